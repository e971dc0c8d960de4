// tier: quick, both databases in test:all
/**
 * Migrations are applied while processes of the previous version serve (docs/guides/upgrade.md). This test finds
 * steps that take longer for larger tables, or may break those processes, so that each one is a decision and not an
 * oversight.
 */
import { describe, expect, test } from 'bun:test'
import { type Effect, effectsOf } from '../../src/database/migrations/effects.ts'
import { migrations } from '../../src/database/migrations/migrate.ts'

/**
 * Processes a whole existing table, so its writers, or all users, wait. Accepted because the table was small, or
 * because only a maintenance window would do; `cloakroom upgrade --check` reports this for pending migrations.
 */
const ACCEPTED_LONG: Record<string, string[]> = {
  '0002_audit_indexes': ['makes an index of audit_logs', 'copies rows of audit_logs'],
  '0005_capabilities': ['changes rows of tokens', 'adds a condition to tokens'],
  '0006_corrections': ['makes an index of audit_logs'],
  '0007_audit_journal': ['makes an index of audit_logs', 'makes a unique index of audit_logs'],
  '0009_deleted_secrets': [
    'changes rows of deleted_secrets',
    'checks a key of deleted_secrets',
    'makes an index of deleted_secrets',
  ],
  '0010_audit_terms': ['copies rows of audit_logs'],
  '0017_session_passkeys': ['checks a key of sessions', 'makes an index of sessions'],
  // Only the audit has the IDs of deleted objects. Reading it takes long, but no writer waits.
  '0022_used_ids': ['copies rows of audit_logs', 'copies rows of deleted_projects'],
  // The hourly quota of created tokens keeps the table small enough; a page of tokens has no other order.
  '0025_prelogin_key': ['makes an index of tokens'],
}

/**
 * Migrations that could break processes of the previous version, and were found not to, or required a stop of those
 * versions anyway.
 */
const ACCEPTED_BREAKING: Record<string, string[]> = {
  // Only a session that sets this gets a different result.
  '0019_resealing': ['replaces the function bump_policy_version'],
  // The triggers only act on an ID that was used before; older versions then answer 409 `already_exists` as well.
  '0022_used_ids': [
    'adds a trigger to workspaces',
    'adds a trigger to users',
    'adds a trigger to agents',
    'adds a trigger to tokens',
    'adds a trigger to projects',
  ],
  // The triggers write to the new table only.
  '0027_derived_states': ['adds a trigger to secrets', 'adds a trigger to deleted_secrets'],
}

/** The first version that promises a rolling restart has all migrations before this one. */
const FIRST_PROMISED = '0019'

test('each migration that processes a whole table in use is on the list of accepted ones', () => {
  expect(found(({ isLong }) => isLong)).toEqual(ACCEPTED_LONG)
})

test('each migration that may break processes of the previous version declares it, or is on the list of accepted ones', () => {
  const promised = found(
    ({ mayBreakOlder }) => mayBreakOlder,
    (name) => name >= FIRST_PROMISED,
  )
  expect(promised).toEqual(ACCEPTED_BREAKING)
})

/** Parts that only older versions use are kept for them, and removed with the first migration that breaks them anyway. */
const LEFT_FOR_OLDER: [since: string, goesBy: RegExp][] = [
  // Counted by development versions of 2026-11-23.
  ['0020_shared_limits', /drop table "?token_rates/i],
  // Written by versions before 0021; `token_uses` must be filled with its values first.
  ['0021_token_uses', /alter table "?tokens"? drop column "?last_used_at/i],
]

test('the first migration that breaks older versions removes the columns that were kept for them', () => {
  const breaking = migrations.filter(({ breaksOlder }) => breaksOlder)
  for (const [since, goesBy] of LEFT_FOR_OLDER) {
    const [first] = breaking.filter(({ name }) => name > since)
    if (first) expect([first.name, first.text]).toEqual([first.name, expect.stringMatching(goesBy)])
  }
})

function found(
  is: (effect: Effect) => boolean,
  counts: (name: string) => boolean = () => true,
): Record<string, string[]> {
  const entries = migrations
    .filter(({ name, breaksOlder }) => counts(name) && !breaksOlder)
    .map(({ name, text }) => ({ name, does: effectsOf(text).filter(is) }))
    .map(({ name, does }) => ({ name, does: [...new Set(does.map((effect) => effect.does))] }))
  return Object.fromEntries(
    entries.filter(({ does }) => does.length > 0).map(({ name, does }) => [name, does]),
  )
}

describe('effects of a statement', () => {
  const cases: [
    statement: string,
    does: string,
    blocks: string,
    isLong: boolean,
    breaks: boolean,
  ][] = [
    ['create table a (id uuid)', 'makes a', 'nobody', false, false],
    ['CREATE UNLOGGED TABLE "a" (id uuid)', 'makes a', 'nobody', false, false],
    ['ALTER TABLE "a" ADD COLUMN "b" text;', 'adds a column to a', 'everybody', false, false],
    [
      "alter table a add column b text[] default '{}' not null",
      'adds a column to a',
      'everybody',
      false,
      false,
    ],
    [
      'alter table a add column b text not null',
      'adds a required column to a',
      'everybody',
      true,
      true,
    ],
    [
      'alter table a add column b uuid default gen_random_uuid()',
      'fills a column of a',
      'everybody',
      true,
      true,
    ],
    ['alter table a alter column b type bigint', 'rewrites a', 'everybody', true, true],
    ['alter table a alter column b set data type bigint', 'rewrites a', 'everybody', true, true],
    [
      'alter table a alter column b set not null',
      'adds a required column to a',
      'everybody',
      true,
      true,
    ],
    ['alter table a drop column b', 'takes a column from a', 'everybody', false, true],
    ['alter table a rename column b to c', 'renames in a', 'everybody', false, true],
    ['drop table a', 'drops a', 'everybody', false, true],
    ['create index i on a using btree (b)', 'makes an index of a', 'writers', true, false],
    ['create unique index i on a (b)', 'makes a unique index of a', 'writers', true, true],
    [
      'alter table a add constraint c check (b > 0)',
      'adds a condition to a',
      'everybody',
      true,
      true,
    ],
    ['update a set b = 1', 'changes rows of a', 'writers', true, true],
    ['insert into b select * from a', 'copies rows of a', 'writers', true, false],
    [
      'create trigger t after insert on a for each row execute function f()',
      'adds a trigger to a',
      'writers',
      false,
      true,
    ],
    ['drop index i', 'drops an index', 'everybody', false, false],
    ['alter table a set (fillfactor = 50)', 'changes a', 'nobody', false, false],
    ['vacuum full a', 'vacuum full a', 'everybody', true, true],
  ]
  test.each(cases)('%s', (statement, does, blocks, isLong, mayBreakOlder) => {
    expect(effectsOf(statement)).toMatchObject([{ does, blocks, isLong, mayBreakOlder }])
  })

  test('a change to a table that the same migration creates has no cost', () => {
    const text = 'create table a (id uuid);--> statement-breakpoint\ncreate index i on a (id);'
    expect(effectsOf(text).map(({ does }) => does)).toEqual(['makes a'])
  })

  test('a new table with a reference to an existing one delays writers of the existing one briefly', () => {
    const text =
      'create table a (id uuid);alter table a add constraint k foreign key (id) references b (id)'
    expect(effectsOf(text).map(({ does, blocks, isLong }) => [does, blocks, isLong])).toEqual([
      ['makes a', 'nobody', false],
      ['refers to b', 'writers', false],
    ])
    expect(effectsOf(`create table b (id uuid);${text}`).map(({ does }) => does)).toEqual([
      'makes b',
      'makes a',
    ])
  })

  test('a statement in a comment or a function body does not count', () => {
    const body =
      'create function f() returns trigger language plpgsql as $$ begin drop table a; end $$'
    expect(effectsOf(`-- drop table a;\n${body}`).map(({ does }) => does)).toEqual([
      'makes a function',
    ])
  })
})
