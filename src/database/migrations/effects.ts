/**
 * A migration's effects on a database in use, read from its statements: which tables it works through, which sessions
 * have to wait, and whether older versions may find something unexpected. It recognises the statements in drizzle/. For
 * any other statement, it assumes both effects.
 */

export type Effect = {
  /** A description, such as `adds a column to users`. */
  does: string
  /** The existing table that is changed; `null` for a new one. */
  table: string | null
  /** Sessions that wait: only for a moment, unless all rows are worked through. */
  blocks: 'nobody' | 'writers' | 'everybody'
  /** Whether all rows of the table are read or written, so that the duration grows with the table. */
  isLong: boolean
  /** Whether older versions may fail or behave differently. */
  mayBreakOlder: boolean
}

type Rule = [pattern: RegExp, does: string, kind: Kind]
type Kind = Pick<Effect, 'blocks' | 'isLong' | 'mayBreakOlder'>

const NEW: Kind = { blocks: 'nobody', isLong: false, mayBreakOlder: false }
const UNSEEN: Kind = { ...NEW }
const BRIEF: Kind = { blocks: 'everybody', isLong: false, mayBreakOlder: false }
const BRIEF_FOR_WRITERS: Kind = { ...BRIEF, blocks: 'writers' }
const BREAKING: Kind = { ...BRIEF, mayBreakOlder: true }
const LONG: Kind = { ...BREAKING, isLong: true }
const LONG_FOR_WRITERS: Kind = { blocks: 'writers', isLong: true, mayBreakOlder: false }
const ROWS: Kind = { blocks: 'writers', isLong: true, mayBreakOlder: true }
const CODE: Kind = { blocks: 'nobody', isLong: false, mayBreakOlder: true }

/** The first that fits; a group of the pattern is the table. */
const RULES: readonly Rule[] = [
  [/^create (?:unlogged )?table (?:if not exists )?(\w+)/, 'makes', NEW],
  [/^alter table (\w+) add column .* generated /, 'computes a column of', LONG],
  [/^alter table (\w+) add column .* default \w*random\w*\(/, 'fills a column of', LONG],
  [
    /^alter table (\w+) add column (?=.* not null)(?!.* default )/,
    'adds a required column to',
    LONG,
  ],
  [/^alter table (\w+) add column /, 'adds a column to', BRIEF],
  [/^alter table (\w+) add constraint \w+ foreign key .* not valid/, 'adds a key to', BRIEF],
  [/^alter table (\w+) add constraint \w+ foreign key /, 'checks a key of', LONG_FOR_WRITERS],
  [/^alter table (\w+) validate constraint /, 'checks', LONG_FOR_WRITERS],
  [/^alter table (\w+) add constraint /, 'adds a condition to', LONG],
  [/^alter table (\w+) alter column \w+ (?:set data )?type /, 'rewrites', LONG],
  [/^alter table (\w+) alter column \w+ set not null/, 'adds a required column to', LONG],
  [/^alter table (\w+) alter column \w+ drop default/, 'takes a default from', BREAKING],
  [
    /^alter table (\w+) alter column \w+ (?:set (?:default|storage|statistics)|drop not null)/,
    'changes',
    BRIEF,
  ],
  [/^alter table (\w+) (?:set|reset) \(/, 'changes', UNSEEN],
  [/^alter table (\w+) drop constraint /, 'takes a condition from', BRIEF],
  [/^alter table (\w+) drop column /, 'takes a column from', BREAKING],
  [/^alter table (\w+) rename /, 'renames in', BREAKING],
  [/^alter table (\w+) /, 'changes', LONG],
  [/^drop table (\w+)/, 'drops', BREAKING],
  [
    /^create unique index \w+ on (\w+)/,
    'makes a unique index of',
    { ...LONG_FOR_WRITERS, mayBreakOlder: true },
  ],
  [/^create index \w+ on (\w+)/, 'makes an index of', LONG_FOR_WRITERS],
  [/^drop index /, 'drops an index', BRIEF],
  [/^create or replace function (\w+)/, 'replaces the function', CODE],
  [/^create function /, 'makes a function', NEW],
  [
    /^create trigger \w+ .* on (\w+) /,
    'adds a trigger to',
    { ...BRIEF_FOR_WRITERS, mayBreakOlder: true },
  ],
  [/^insert into \w+ .* from (\w+)/, 'copies rows of', LONG_FOR_WRITERS],
  [/^(?:update|delete from) (\w+)/, 'changes rows of', ROWS],
]

const SEPARATOR = '--> statement-breakpoint'

/** Returns the effects of statements, in their order. Changes to a table are part of its creation in a migration. */
export function effectsOf(text: string): Effect[] {
  const statements = text.split(SEPARATOR).flatMap(statementsOf)
  const effects = statements.map(effectOf)
  const made = new Set(
    effects.filter(({ does }) => does.startsWith('makes ')).map(({ does }) => does.slice(6)),
  )
  const ofMade = statements.flatMap((statement) => {
    const [, from = '', to = ''] = KEY.exec(statement) ?? []
    return made.has(from) && !made.has(to)
      ? [{ does: `refers to ${to}`, table: to, ...BRIEF_FOR_WRITERS }]
      : []
  })
  return [...effects.filter(({ table }) => table === null || !made.has(table)), ...ofMade]
}

/** A foreign key, which also blocks writers of the referenced table. */
const KEY = /^(?:create|alter) table (\w+) .*\breferences (\w+)/

/** Drizzle writes a statement a part; by hand there may be several. A function's body is not looked into. */
function statementsOf(part: string): string[] {
  const text = part
    .replaceAll(/--[^\n]*/g, ' ')
    .replaceAll(/\$\$.*?\$\$/gs, "''")
    .replaceAll('"', '')
    .replaceAll(/\s+/g, ' ')
    .toLowerCase()
  return text
    .split(';')
    .map((statement) => statement.trim().replaceAll('public.', ''))
    .filter((statement) => statement !== '')
}

function effectOf(statement: string): Effect {
  for (const [pattern, does, kind] of RULES) {
    const found = pattern.exec(statement)
    if (!found) continue
    const [, name] = found
    const isThere = kind !== NEW && kind !== CODE
    return {
      does: name ? `${does} ${name}` : does,
      table: isThere ? (name ?? null) : null,
      ...kind,
    }
  }
  const words = statement.split(' ').slice(0, 4).join(' ')
  return { does: words, table: null, ...LONG }
}
