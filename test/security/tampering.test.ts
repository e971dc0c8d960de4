// tier: quick, both databases in test:all
/**
 * An attacker writes to the database of a running installation: each column of each table that a decision depends on,
 * one at a time, in a signed workspace. Callers and clients then get the data that the members signed or an error,
 * and nothing else is sent. Other workspaces are unaffected, and restored rows work again. `bun run test` changes one
 * column of thirty.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ApiError } from '../../src/client/http/api.ts'
import { UntrustedKey } from '../../src/client/workspace_key.ts'
import { Refusal } from '../../src/sigchain/index.ts'
import { openStage, type Stage } from '../support/agent.ts'
import { sample } from '../support/sample.ts'
import {
  dropConstraints,
  keepAs,
  putBack,
  ROW_SUBJECTS,
  type Tampering,
  tables,
  tamperingsOf,
} from './tampering_changes.ts'
import { rowsOf } from './tampering_rows.ts'
import { unconcerned, verdicts } from './tampering_verdicts.ts'
import {
  openWorld,
  type Probe,
  REMOVED,
  Refused,
  UNLISTED_HOST,
  Withheld,
  type World,
} from './tampering_world.ts'

/** A result, or the reason why there was no result. */
type Outcome = { got: string } | { refusal: unknown }
type Outcomes = Record<string, Outcome>

const concerned = Object.keys(verdicts)
/** A column, or a change of a row, with its table. */
const subjects = concerned.flatMap((table) =>
  Object.keys(verdicts[table] ?? {}).map((subject) => ({ table, subject })),
)
const sampled = new Map<string, string[]>()
for (const { table, subject } of sample('tampering', subjects, 30))
  sampled.set(table, [...(sampled.get(table) ?? []), subject])
/** More than the time for which a token's row is cached. */
const TOKEN_KEPT_MS = 601_000

let stage: Stage
let world: World
let rows: ReturnType<typeof rowsOf>
let before: Outcomes
let policyVersion = 1_000

beforeAll(async () => {
  const env = { RATE_API: '100000/1', RATE_TOKEN: '100000/1' }
  stage = await openStage({ env, names: [REMOVED, UNLISTED_HOST] })
  world = await openWorld(stage, () => keepAs(sql(), 'older', concerned))
  rows = rowsOf(stage, world)
  await keepAs(sql(), 'saved', concerned)
  await dropConstraints(sql(), concerned)
  before = await ask()
})
afterAll(() => stage.stop())

const sql = () => stage.app.connection.sql
const gotOf = (outcome: Outcome | undefined) => (outcome && 'got' in outcome ? outcome.got : null)
const gotOfAll = (all: Outcomes) =>
  Object.fromEntries(Object.entries(all).map(([name, each]) => [name, gotOf(each)]))

/** Each way to read, with its result. */
async function ask(
  probes = { ...world.probes, ...world.others, ...world.elsewhere },
): Promise<Outcomes> {
  const ask = (probe: Probe): Promise<Outcome> =>
    probe().then(
      (got) => ({ got }),
      (refusal) => ({ refusal }),
    )
  const all = Object.entries(probes).map(async ([name, probe]) => [name, await ask(probe)] as const)
  return Object.fromEntries(await Promise.all(all))
}

/** No server and no process uses its cached data. */
async function letSee(subject?: string) {
  policyVersion += 10
  if (subject !== 'policy_version')
    await sql()`update workspaces set policy_version = ${policyVersion}`
  stage.app.clock.advance(TOKEN_KEPT_MS)
}

const refusals = [Refusal, UntrustedKey, Withheld]

/** Reported by the server, or detected by the client; a crash of either is neither. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ApiError || error instanceof Refused) return error.status < 500
  return refusals.some((kind) => error instanceof kind)
}

/** The names of newly rejected reads. Everything else must be unchanged. */
function requireSound(table: string, change: string, after: Outcomes): string[] {
  const name = `${table}, ${change}`
  // A person is one object, in all workspaces.
  const goOn = table === 'users' ? world.others : { ...world.others, ...world.elsewhere }
  const refused: string[] = []
  for (const [asked, outcome] of Object.entries(after)) {
    const where = `${name}: ${asked}`
    if ('got' in outcome) expect([where, outcome.got]).toEqual([where, gotOf(before[asked]) ?? ''])
    else if (!isRefusal(outcome.refusal)) throw new Error(where, { cause: outcome.refusal })
    else if (gotOf(before[asked]) !== null) refused.push(asked)
  }
  expect(refused.filter((asked) => asked in goOn).map((asked) => [name, asked])).toEqual([])
  return refused
}

async function expectWorks() {
  const call = world.probes['a call']
  expect(await ask(call && { call })).toEqual({ call: { got: gotOf(before['a call']) ?? '' } })
}

/** The probes that the change caused to be rejected; null if nothing could be changed. */
async function attempt(table: string, { subject, name, apply }: Tampering) {
  if (!(await apply(sql()))) return null
  try {
    await letSee(subject)
    const refused = requireSound(table, name, await ask())
    expect(stage.upstream.received).toEqual([])
    return refused
  } finally {
    await putBack(sql(), table)
    await letSee()
    await expectWorks()
  }
}

test('every probe succeeds or is rejected as expected before anything is changed', () => {
  expect(
    Object.entries(gotOfAll(before))
      .filter(([, got]) => got === null)
      .map(([name]) => name),
  ).toEqual([
    'a call to a host that was removed',
    'a call to a host that was never allowed',
    'a call with a token that was revoked',
    'a change by who is no administrator',
  ])
})

test('every table and column of the schema has a verdict', () => {
  expect([...concerned, ...Object.keys(unconcerned)].sort()).toEqual(Object.keys(tables).sort())
  for (const table of concerned)
    expect([table, ...Object.keys(verdicts[table] ?? {}).sort()]).toEqual([
      table,
      ...[...Object.keys(tables[table] ?? {}), ...ROW_SUBJECTS].sort(),
    ])
})

describe('a database change is refused or has no effect', () => {
  test.each([...sampled])('%s: %j', async (table, chosen) => {
    const target = rows[table]
    if (!target) throw new Error(`there are no rows of ${table} to change`)
    const found = new Map<string, string[]>()
    for (const tampering of tamperingsOf(table, target)) {
      const { subject } = tampering
      const refused = chosen.includes(subject) ? await attempt(table, tampering) : null
      if (refused) found.set(subject, [...(found.get(subject) ?? []), ...refused])
    }
    expect(chosen.map((subject) => [subject, verdictOf(table, found.get(subject))])).toEqual(
      chosen.map((subject) => [
        subject,
        verdicts[table]?.[subject] === 'refused' ? 'refused' : 'harmless',
      ]),
    )
    expect(gotOfAll(await ask())).toEqual(gotOfAll(before))
  })
})

/** The server reads these for each call and rejects by itself. It keeps a chain that it has verified. */
const ofEachCall = /^(secrets|tokens|token_envelopes|token_grants|manifests)$/

function verdictOf(table: string, refused: string[] | undefined): string {
  if (refused === undefined) return 'never changed'
  if (refused.length === 0) return 'harmless'
  const isByServer = refused.includes('a call') || !ofEachCall.test(table)
  return isByServer ? 'refused' : 'refused by clients alone'
}
