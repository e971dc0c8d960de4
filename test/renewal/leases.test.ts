// tier: quick, both databases in test:all
/** One renewal at a time over all processes, by the database's clock. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { readConfig } from '../../src/core/config/config.ts'
import { OuterLayer, secretRow } from '../../src/core/crypto/outer_layer.ts'
import { type Connection, openDatabase } from '../../src/database/open.ts'
import { type DerivedPlace, type LeaseRequest, Leases } from '../../src/renewal/leases.ts'
import { databaseKind, preparedDatabase, type TestDatabase } from '../support/database.ts'
import { insertDerivedPlace } from '../support/derived_place.ts'

const KEYS = { SECRET_KEY: 'k'.repeat(36), ENCRYPTION_KEY: Buffer.alloc(32).toString('base64url') }
const LEASE_MS = 30_000
const STATE = new TextEncoder().encode('a sealed state')
const outer = OuterLayer.parse(KEYS.ENCRYPTION_KEY)

let database: TestDatabase
let connections: Connection[]
let sql: Connection['sql']
let leases: Leases
let workspaceId: string
let tokenId: string
let place: DerivedPlace

beforeAll(async () => {
  database = await preparedDatabase()
  const config = readConfig({ ...KEYS, ...database.env }, () => KEYS)
  // The embedded database has one connection, and one process.
  const processes = databaseKind === 'embedded' ? [1] : [1, 2]
  connections = await Promise.all(processes.map(() => openDatabase(config, () => {})))
  sql = connections[0]?.sql as Connection['sql']
  leases = new Leases(sql, outer)
})
afterAll(async () => {
  for (const { close } of connections) await close()
  database.remove()
})

beforeEach(async () => {
  ;({ place, tokenId } = await insertDerivedPlace(sql))
  workspaceId = place.workspaceId
})

async function readPolicyVersion(): Promise<number> {
  const [row] = await sql`select policy_version from workspaces where id = ${workspaceId}`
  return Number(row?.policy_version)
}

async function readRow() {
  const [row] =
    await sql`select *, generation::float8 as generation from derived_states where workspace_id = ${workspaceId}`
  return row as Record<string, unknown> & { generation: number }
}

/** Milliseconds: the driver leaves times as texts. */
const timeOf = (text: unknown) => new Date(String(text)).getTime()

async function take(more: Partial<LeaseRequest> = {}, by = leases) {
  const policyVersion = more.policyVersion ?? (await readPolicyVersion())
  return by.takeLease(place, { leaseMs: LEASE_MS, generation: 0, tokenId, policyVersion, ...more })
}

async function taken(more: Partial<LeaseRequest> = {}) {
  const lease = await take(more)
  if (lease.kind !== 'taken') throw new Error(`not taken: ${JSON.stringify(lease)}`)
  return lease
}

const success = (expectedGeneration: number, derivedAt = Date.now()) => ({
  expectedGeneration,
  sealedState: STATE,
  derivedAt,
  expiresInMs: 3_600_000,
})

const failure = (of: { generation: number; leaseId: string }) => ({
  expectedGeneration: of.generation,
  leaseId: of.leaseId,
  code: 'endpoint_failed',
  isFinal: false,
  retryAfterS: null,
  mayHaveLost: false,
})

const endLease = () =>
  sql`update derived_states set lease_until = now() - interval '1 second' where workspace_id = ${workspaceId}`
const endPause = () =>
  sql`update derived_states set retry_at = now() - interval '1 second' where workspace_id = ${workspaceId}`
const writeSecret = () =>
  sql`update secrets set version = version + 1 where workspace_id = ${workspaceId}`

async function storeFirst(derivedAt?: number): Promise<number> {
  const { generation } = await taken()
  expect(await leases.storeState(place, success(generation, derivedAt))).toBe(true)
  return generation + 1
}

describe('taking a lease', () => {
  test('exactly one of fifty parallel takers over all pools gets the lease', async () => {
    const policyVersion = await readPolicyVersion()
    const all = connections.map((connection) => new Leases(connection.sql, outer))
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => take({ policyVersion }, all[at % all.length])),
    )
    const kinds = Map.groupBy(answers, ({ kind }) => kind)
    expect([kinds.get('taken')?.length, kinds.get('busy')?.length]).toEqual([1, 49])
    const until = timeOf((await readRow()).lease_until)
    expect(kinds.get('busy')).toEqual(Array(49).fill({ kind: 'busy', until }))
    expect(await readPolicyVersion()).toBe(policyVersion)
  })

  test('a lease is available again once the earlier one has ended, and its holder has lost it', async () => {
    const first = await taken()
    await endLease()
    const second = await taken()
    expect(second).toMatchObject({ generation: first.generation, wasSent: false })
    expect(await leases.extendLease(place, first.leaseId, 300_000)).toBeNull()
    expect(await leases.storeFailure(place, failure(first))).toBeNull()
    expect((await take()).kind).toBe('busy')
  })

  test('a lease is refused for another generation, and for a missing row', async () => {
    const generation = await storeFirst()
    for (const other of [0, generation - 1, generation + 1])
      expect(await take({ generation: other })).toEqual({ kind: 'stale' })
    await sql`delete from derived_states where workspace_id = ${workspaceId}`
    expect(await take({ generation })).toEqual({ kind: 'stale' })
    expect(await sql`select 1 from derived_states where workspace_id = ${workspaceId}`).toEqual(
      [] as never,
    )
    // A lease that is created later is above all that a process may have seen.
    expect((await taken()).generation).toBeGreaterThan(generation)
  })

  test.each([
    ['a revoked token', () => sql`update tokens set revoked_at = now() where id = ${tokenId}`],
    ['an expired token', () => sql`update tokens set expires_at = now() where id = ${tokenId}`],
    ['a deleted secret', () => sql`delete from secrets where workspace_id = ${workspaceId}`],
  ])('a lease is refused for %s', async (_, change) => {
    await change()
    expect(await take()).toEqual({ kind: 'stale' })
  })

  test('a lease is refused for a policy version that is no longer current', async () => {
    const policyVersion = await readPolicyVersion()
    await writeSecret()
    expect(await take({ policyVersion })).toEqual({ kind: 'stale' })
    expect((await take()).kind).toBe('taken')
  })

  test('a lease is refused for a token of another workspace', async () => {
    const other = Bun.randomUUIDv7()
    await sql`insert into workspaces (id, name, type) values (${other}, 'w', 'shared')`
    await sql`update tokens set workspace_id = ${other} where id = ${tokenId}`
    expect(await take()).toEqual({ kind: 'stale' })
  })
})

describe('a sent refresh token', () => {
  test('a sent refresh token is marked with the extended lease, and the next taker gets a warning if no result was stored', async () => {
    const first = await taken()
    const sentAt = await leases.extendLease(place, first.leaseId, 300_000)
    const { lease_until, sent_at } = await readRow()
    expect(timeOf(lease_until)).toBeGreaterThan((sentAt ?? Number.NaN) + 299_000)
    expect(sent_at).not.toBeNull()
    expect((await take()).kind).toBe('busy')
    await endLease()
    expect(await leases.extendLease(place, first.leaseId, 300_000)).toBeNull()
    const second = await taken()
    expect(second.wasSent).toBe(true)
    const lost = { ...failure(second), isFinal: true, mayHaveLost: second.wasSent }
    await leases.storeFailure(place, lost)
    expect(await take()).toMatchObject({ kind: 'final', mayHaveLost: true })
  })

  test('a sent refresh token is forgotten when a result is stored', async () => {
    const first = await taken()
    await leases.extendLease(place, first.leaseId, 300_000)
    expect(await leases.storeState(place, success(first.generation))).toBe(true)
    expect((await taken({ generation: first.generation + 1 })).wasSent).toBe(false)
  })
})

describe('storing a state', () => {
  test('storing a state raises the generation and the policy version by one, and it opens only in its place', async () => {
    const { generation } = await taken()
    const before = await readPolicyVersion()
    const derivedAt = Date.now()
    expect(await leases.storeState(place, success(generation, derivedAt))).toBe(true)
    const row = await readRow()
    expect(row).toMatchObject({ generation: generation + 1, lease_id: null, lease_until: null })
    expect([timeOf(row.derived_at), timeOf(row.expires_at)]).toEqual([
      derivedAt,
      derivedAt + 3_600_000,
    ])
    expect(await readPolicyVersion()).toBe(before + 1)
    const open = (at: DerivedPlace) =>
      outer.open('derived.state', workspaceId, secretRow(at), row.state as Uint8Array)
    expect(await open(place)).toEqual(STATE)
    expect(await open({ ...place, key: 'ANOTHER' })).toBeNull()
  })

  test('a state is stored after the lease has ended, replaces a failure, and makes later results stale', async () => {
    const first = await taken()
    await endLease()
    const second = await taken()
    await leases.storeFailure(place, { ...failure(second), isFinal: true })
    expect((await take()).kind).toBe('final')
    expect(await leases.storeState(place, success(first.generation))).toBe(true)
    expect(await readRow()).toMatchObject({ is_final: false, failed_at: null, failures: 0 })
    expect(await leases.storeState(place, success(second.generation))).toBe(false)
    expect(await leases.storeFailure(place, failure(second))).toBeNull()
    expect((await taken({ generation: first.generation + 1 })).kind).toBe('taken')
  })

  test('storing a state cannot deadlock with a change of the workspace that writes the secret', async () => {
    if (databaseKind === 'embedded') return
    const { generation } = await taken()
    let storing: Promise<boolean> | undefined
    await sql.begin(async (tx) => {
      await tx`select from workspaces where id = ${workspaceId} for no key update`
      storing = leases.storeState(place, success(generation))
      const isWaiting = () => tx`select 1 from pg_locks where not granted`
      while ((await isWaiting()).length === 0);
      await tx`update secrets set version = version + 1 where workspace_id = ${workspaceId}`
    })
    expect(await storing).toBe(true)
  })
})

describe('a failure', () => {
  test('a failure makes callers wait 1, 2, 4 … 300 seconds, and does not discard a success of a later generation', async () => {
    const pauses: number[] = []
    for (let attempt = 0; attempt < 11; attempt += 1) {
      const stored = await leases.storeFailure(place, failure(await taken()))
      const { failedAt = 0, retryAt } = stored ?? {}
      pauses.push(Math.round(((retryAt ?? 0) - failedAt) / 1000))
      expect(await take()).toEqual({ kind: 'waiting', retryAt: retryAt ?? Number.NaN })
      await endPause()
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
  })

  test.each([
    [0, 1],
    [120, 120],
    [1e12, 86_400],
  ])('a failure waits %p seconds if the endpoint requests %p', async (retryAfterS, seconds) => {
    const stored = await leases.storeFailure(place, { ...failure(await taken()), retryAfterS })
    expect(Math.round(((stored?.retryAt ?? 0) - (stored?.failedAt ?? 0)) / 1000)).toBe(seconds)
  })

  test('a final failure lasts until the secret is written, which keeps the state', async () => {
    const generation = await storeFirst()
    const lease = await taken({ generation })
    await leases.storeFailure(place, { ...failure(lease), isFinal: true, code: 'refused' })
    const { failed_at, state } = await readRow()
    const final = { kind: 'final', failedAt: timeOf(failed_at), code: 'refused' } as const
    expect(await take({ generation })).toEqual({ ...final, mayHaveLost: false })
    await writeSecret()
    expect((await taken({ generation })).kind).toBe('taken')
    expect((await readRow()).state).toEqual(state)
  })

  test('a failure of an attempt with the previous value is not recorded once the secret was written', async () => {
    const first = await taken()
    await leases.extendLease(place, first.leaseId, 300_000)
    await writeSecret()
    // The old refresh token is being sent: nobody else sends until its answer arrives.
    expect((await take()).kind).toBe('busy')
    expect(await leases.extendLease(place, first.leaseId, 300_000)).toBeNull()
    const final = { ...failure(first), isFinal: true, mayHaveLost: true }
    expect(await leases.storeFailure(place, final)).toBeNull()
    expect(await taken()).toMatchObject({ wasSent: false })
  })

  test('a failure keeps the policy version, and so does the lease', async () => {
    const before = await readPolicyVersion()
    const lease = await taken()
    await leases.extendLease(place, lease.leaseId, 300_000)
    await leases.storeFailure(place, failure(lease))
    expect(await readPolicyVersion()).toBe(before)
  })
})

describe('a credential that an upstream rejected', () => {
  const OLD = () => Date.now() - 61_000
  const renew = () =>
    sql`update derived_states set expires_at = now() + interval '1 hour' where workspace_id = ${workspaceId}`

  test('a rejected credential expires at most six times an hour, if it is current and over a minute old', async () => {
    const generation = await storeFirst(OLD())
    expect(await leases.expireCredential(place, generation - 1)).toBe(false)
    const did: boolean[] = []
    for (let at = 0; at < 7; at += 1) {
      did.push(await leases.expireCredential(place, generation))
      expect(await leases.expireCredential(place, generation)).toBe(false)
      await renew()
    }
    expect(did).toEqual([...Array(6).fill(true), false])
    await sql`update derived_states set expired_since = now() - interval '61 minutes' where workspace_id = ${workspaceId}`
    expect(await leases.expireCredential(place, generation)).toBe(true)
    expect(timeOf((await readRow()).expires_at)).toBeLessThanOrEqual(Date.now() + 1)
  })

  test('a rejected credential stays if it is less than a minute old', async () => {
    expect(await leases.expireCredential(place, await storeFirst())).toBe(false)
  })
})

describe('a row of a derived state', () => {
  const rows = () => sql`select 1 from derived_states where workspace_id = ${workspaceId}`
  const keep = () => sql`insert into deleted_secrets
    (id, workspace_id, project_id, environment, key, value, version, created_at, updated_at)
    select id, workspace_id, project_id, environment, key, value, version, created_at, updated_at from secrets
    where workspace_id = ${workspaceId}`

  test('a row is kept with a deleted secret while it can be restored, and deleted with it', async () => {
    await storeFirst()
    await keep()
    await sql`delete from projects where id = ${place.projectId}`
    expect(await rows()).toHaveLength(1)
    await sql`delete from deleted_secrets where workspace_id = ${workspaceId}`
    expect(await rows()).toHaveLength(0)
  })

  test('a row stays with a restored secret, and is deleted with the workspace', async () => {
    await storeFirst()
    await keep()
    await sql`delete from deleted_secrets where workspace_id = ${workspaceId}`
    expect(await rows()).toHaveLength(1)
    await sql`delete from workspaces where id = ${workspaceId}`
    expect(await rows()).toHaveLength(0)
  })
})
