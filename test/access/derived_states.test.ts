// tier: quick, both databases in test:all
/** Snapshots contain the states of derived credentials, and a process never accepts an older one. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { openReader } from '../../src/access/reader.ts'
import { ChainCache } from '../../src/access/signed/chains.ts'
import { Verifier } from '../../src/access/signed/verifier.ts'
import { SnapshotCache, StaleSnapshot } from '../../src/access/snapshots/snapshots.ts'
import { decideWhenRead } from '../../src/core/async/unread.ts'
import { systemClock } from '../../src/core/clock.ts'
import { readConfig } from '../../src/core/config/config.ts'
import { OuterLayer } from '../../src/core/crypto/outer_layer.ts'
import { openLog } from '../../src/core/log.ts'
import { type Connection, openDatabase } from '../../src/database/open.ts'
import { type DerivedPlace, Leases } from '../../src/renewal/leases.ts'
import { preparedDatabase, type TestDatabase } from '../support/database.ts'
import { insertDerivedPlace } from '../support/derived_place.ts'

const KEYS = { SECRET_KEY: 'k'.repeat(36), ENCRYPTION_KEY: Buffer.alloc(32).toString('base64url') }
const outer = OuterLayer.parse(KEYS.ENCRYPTION_KEY)

let database: TestDatabase
let connection: Connection
let sql: Connection['sql']
let place: DerivedPlace
let tokenId: string
let snapshots: SnapshotCache

beforeAll(async () => {
  database = await preparedDatabase()
  const config = readConfig({ ...KEYS, ...database.env }, () => KEYS)
  connection = await openDatabase(config, () => {})
  sql = connection.sql
})
afterAll(async () => {
  await connection.close()
  database.remove()
})
beforeEach(async () => {
  ;({ place, tokenId } = await insertDerivedPlace(sql))
  const log = openLog('error', () => {})
  const verifier = new Verifier({ chains: new ChainCache(), log, clock: systemClock })
  snapshots = new SnapshotCache(openReader(sql), outer, verifier)
})

/** Reads the current state by name, and with its whole environment. */
async function read() {
  const { workspaceId, projectId, environment, key } = place
  snapshots.forget(workspaceId)
  const snapshot = await snapshots.of(workspaceId)
  const [byName] = await decideWhenRead(() => snapshots.secrets(snapshot, environment, [key]))
  const whole = await snapshots.environment(snapshot, projectId, environment)
  expect(whole?.map(({ derived }) => derived)).toEqual([byName?.derived])
  return byName?.derived
}

async function store(text: string): Promise<number> {
  const known = await read()
  const [row] = await sql`select policy_version from workspaces where id = ${place.workspaceId}`
  const lease = await new Leases(sql, outer).takeLease(place, {
    leaseMs: 30_000,
    generation: known?.generation ?? 0,
    tokenId,
    policyVersion: Number(row?.policy_version),
  })
  if (lease.kind !== 'taken') throw new Error(lease.kind)
  await new Leases(sql, outer).storeState(place, {
    expectedGeneration: lease.generation,
    sealedState: Buffer.from(text),
    derivedAt: lease.now,
    expiresInMs: 60_000,
  })
  return lease.generation + 1
}

test('a secret has the state and the hints of its derived credential', async () => {
  expect(await read()).toBeUndefined()
  const generation = await store('first')
  expect(await read()).toEqual({
    generation,
    state: new Uint8Array(Buffer.from('first')),
    expiresAt: expect.any(Number),
    failedAt: null,
    failedCode: null,
    isFinal: false,
    retryAt: null,
  })
  await sql`update derived_states set failed_at = to_timestamp(1.5), failed_code = 'refused', is_final = true,
    retry_at = to_timestamp(2) where workspace_id = ${place.workspaceId}`
  const failed = { failedAt: 1500, failedCode: 'refused', isFinal: true, retryAt: 2000 }
  expect(await read()).toMatchObject(failed)
})

test('a state that does not open in its place counts as absent', async () => {
  const generation = await store('first')
  await sql`update derived_states set state = 'moved' where workspace_id = ${place.workspaceId}`
  expect(await read()).toMatchObject({ generation, state: null })
})

test('a policy that PostgreSQL cannot parse makes no state unreadable', async () => {
  const generation = await store('first')
  const policy = JSON.stringify({ kind: 'oauth2', sign_templates: ['\u0000'] })
  await sql`update secrets set policy = ${policy}::text::json where workspace_id = ${place.workspaceId}`
  expect(await read()).toMatchObject({ generation })
})

test('a secret whose policy has no kind has no state', async () => {
  await store('first')
  await sql`update secrets set policy = '{}' where workspace_id = ${place.workspaceId}`
  expect(await read()).toBeUndefined()
})

test('a generation below a seen one is rejected, and a missing row makes no lower one acceptable', async () => {
  const generation = await store('first')
  const { workspaceId } = place
  expect(await store('second')).toBe(generation + 1)
  await read()
  await sql`update derived_states set generation = ${generation} where workspace_id = ${workspaceId}`
  await expect(read()).rejects.toMatchObject({ code: 'unverified_state' })
  const [row] =
    await sql`delete from derived_states where workspace_id = ${workspaceId} returning *`
  expect(await read()).toBeUndefined()
  await sql`insert into derived_states ${sql(row as Record<string, never>)}`
  await sql`update secrets set version = 2 where workspace_id = ${workspaceId}`
  await expect(read()).rejects.toMatchObject({ code: 'unverified_state' })
  await sql`delete from derived_states where workspace_id = ${workspaceId}`
  expect(await store('third')).toBeGreaterThan(generation + 1)
  await read()
})

test('a read that was overtaken by a newer state is repeated, and never returns an older state', async () => {
  const { workspaceId, environment, key } = place
  const generation = await store('first')
  await store('second')
  await read()
  await sql`update derived_states set generation = ${generation} where workspace_id = ${workspaceId}`
  await sql`update workspaces set policy_version = 2 where id = ${workspaceId}`
  snapshots.forget(workspaceId)
  const snapshot = await snapshots.of(workspaceId)
  const overtaken = decideWhenRead(() => snapshots.secrets(snapshot, environment, [key]))
  await expect(overtaken).rejects.toBeInstanceOf(StaleSnapshot)
})
