/** The generated part of docs/reference/compatibility.md. A run of some clients keeps the rows of all others. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Verdict } from './cell.ts'
import { type Action, actions, type Cell, type Client, NO_CALL, ways } from './client.ts'

const PATH = join(import.meta.dir, '../../docs/reference/compatibility.md')
const START = '<!-- Written by `bun run clients`. -->\n'
const END = '<!-- End of the generated part. -->\n'
const MARKS = { ok: '✓', lacking: '–', wrong: '✗' }

export type Row = {
  client: string
  /** A mark for each action. */
  forward: string
  proxy: string
  /** The client's note, and the reason of each cell that fails. */
  notes: string
}

export type Verdicts = ReadonlyMap<Cell, Verdict>

const cells = ways.flatMap((way) => actions.map((action): Cell => `${way} ${action}`))

export function rowOf(client: Client, verdicts: Verdicts): Row {
  const marksOf = (way: (typeof ways)[number]) =>
    actions.map((action) => MARKS[kindOf(verdicts.get(`${way} ${action}`))]).join('')
  const reasons = Map.groupBy(
    cells.filter((cell) => verdicts.get(cell) !== 'ok'),
    (cell) => reasonOf(client, cell, verdicts.get(cell)),
  )
  const explained = [...reasons].filter(([reason]) => reason !== NO_CALL)
  const notes = explained.map(([reason, some]) => `${nameOf(some)}: ${reason}`)
  return {
    client: [client.name, ...client.packages.slice(-1).flatMap(versionOf)].join(' '),
    forward: marksOf('forward'),
    proxy: marksOf('proxy'),
    notes: [...(client.note ? [client.note] : []), ...notes].join('; '),
  }
}

function kindOf(verdict: Verdict | undefined): keyof typeof MARKS {
  if (verdict === 'ok') return verdict
  return verdict && 'lacking' in verdict ? 'lacking' : 'wrong'
}

export const UNEXPLAINED = '**not explained**'

function reasonOf({ fails }: Client, cell: Cell, verdict: Verdict | undefined): string {
  if (verdict && typeof verdict === 'object' && 'lacking' in verdict) return verdict.lacking
  return fails?.[cell] ?? UNEXPLAINED
}

/** Names an action once if it has the same result both ways. */
function nameOf(cells: readonly Cell[]): string {
  const of = (way: string) =>
    cells.filter((cell) => cell.startsWith(way)).map((cell) => cell.split(' ')[1] as Action)
  const [forward, proxy] = [of('forward'), of('proxy')]
  const listed = (some: Action[]) => (some.length === actions.length ? 'all' : some.join(', '))
  if (forward.join() === proxy.join()) return listed(forward)
  const parts = [
    forward.length > 0 && `forward ${listed(forward)}`,
    proxy.length > 0 && `proxy ${listed(proxy)}`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** The version after the last `@` or `==`, or the third part of a Maven name. */
function versionOf(text: string): string[] {
  const version = /(?:.@v?|==|^[^:]+:[^:]+:)([^@:=]+)$/.exec(text)?.[1]
  return version === undefined ? [] : [version]
}

/** The clients of a language that need nothing else. */
const LISTED = /^- \*\*(.+?):\*\* (.+)$/gm
const IN_TABLE = /^\| (.+?) \| ([✓✗–]+) \| ([✓✗–]+) \|/gm

/** The rows of the page. Its marks count, and the notes come from the table of clients. */
export function readRows(clients: readonly Client[]): Map<Client, Row> {
  const part = generatedPart(readFileSync(PATH, 'utf8'))
  const listed = new Set(
    [...part.matchAll(LISTED)].flatMap(([, language = '', names = '']) =>
      names.split(' · ').map((name) => `${language}: ${name}`),
    ),
  )
  const marks = new Map(
    [...part.matchAll(IN_TABLE)].map(([, name = '', forward = '', proxy = '']) => [
      name,
      forward + proxy,
    ]),
  )
  return new Map(
    clients.flatMap((client): [Client, Row][] => {
      const name = rowOf(client, new Map()).client
      const isListed = listed.has(`${client.language}: ${shortName(client, name)}`)
      const found = marks.get(name) ?? (isListed ? '' : undefined)
      return found === undefined ? [] : [[client, rowOf(client, verdictsFrom(client, found))]]
    }),
  )
}

/** Without a mark, a cell passes, unless the client has no such call. */
function verdictsFrom({ lacks }: Client, marks: string): Verdicts {
  return new Map(
    cells.map((cell, index): [Cell, Verdict] => {
      const [way, action] = cell.split(' ') as [(typeof ways)[number], Action]
      const lacking = lacks?.[action] ?? lacks?.[way]
      if (marks[index] === MARKS.wrong) return [cell, { wrong: '' }]
      if (marks[index] === MARKS.ok || lacking === undefined) return [cell, 'ok']
      return [cell, { lacking }]
    }),
  )
}

/** The heading already names the language. */
function shortName({ language }: Client, name: string): string {
  return name.replace(` (${language})`, '')
}

export function writeRows(clients: readonly Client[], rows: ReadonlyMap<Client, Row>): string {
  const document = readFileSync(PATH, 'utf8')
  const [before = '', rest = ''] = document.split(START)
  const [, after = ''] = rest.split(END)
  writeFileSync(PATH, `${before}${START}${renderRows(clients, rows)}${END}${after}`)
  return summaryOf([...rows.values()])
}

export function renderRows(clients: readonly Client[], rows: ReadonlyMap<Client, Row>): string {
  const all = clients.map((client) => ({
    client,
    row: rows.get(client) ?? rowOf(client, new Map()),
  }))
  const [plain, noted] = [all.filter(({ row }) => !row.notes), all.filter(({ row }) => row.notes)]
  const lists = [...Map.groupBy(plain, ({ client }) => client.language)].map(
    ([language, some]) =>
      `- **${language}:** ${some.map(({ client, row }) => shortName(client, row.client)).join(' · ')}`,
  )
  const lines = noted.map(({ row }) => lineOf(row))
  return `
${summaryOf([...rows.values()])}

### Clients without a setting

Everything that these clients support works both ways.

${lists.join('\n')}

### Clients with a setting or limit

| Client | Forward | Proxy | Notes |
|---|---|---|---|
${lines.join('\n')}

`
}

function summaryOf(rows: readonly Row[]): string {
  const marks = rows.map(({ forward, proxy }) => forward + proxy).join('')
  const count = (mark: string) => marks.split(mark).length - 1
  const [passed, failed, lacking] = [count('✓'), count('✗'), count('–')]
  const share = ((100 * passed) / (passed + failed)).toFixed(1)
  return `${rows.length} clients, ${passed + failed} checks: ${passed} pass (${share} %), ${failed} fail. ${lacking} more were not tested.`
}

function lineOf({ client, forward, proxy, notes }: Row): string {
  return `| ${client} | ${forward} | ${proxy} | ${notes} |`
}

export function generatedPart(document: string): string {
  return document.split(START)[1]?.split(END)[0] ?? ''
}
