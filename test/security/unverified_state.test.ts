// tier: quick
/**
 * An attacker writes to the database of a running server and has the server's keys. In a signed workspace only data
 * that its members signed counts. tampering.test.ts changes every column; here are the attacks that change more than
 * one row, forge signatures, or depend on the state that the process saw earlier.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TLSSocket } from 'node:tls'
import { and, eq } from 'drizzle-orm'
import { sha256 } from '../../src/core/crypto/primitives.ts'
import { formatSealedToken, parseToken } from '../../src/core/crypto/token.ts'
import { type FaultCode, statusOf } from '../../src/core/fault.ts'
import {
  manifests,
  projects,
  secrets,
  tokenEnvelopes,
  workspaceLinks,
} from '../../src/database/schema/index.ts'
import { deliverEnvironment } from '../../src/features/workloads/contract.ts'
import {
  readFirstHash,
  replay,
  requireBinding,
  signLink,
  verifyEnvelope,
  verifyGrant,
  verifyManifest,
} from '../../src/sigchain/index.ts'
import { parseExposition, sumOf } from '../features/metrics/exposition.ts'
import {
  API,
  createAgentWithToken,
  openStage,
  recordOf,
  resolveAs,
  type Stage,
} from '../support/agent.ts'
import { callJson } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { recordOfAnswer, streamAs } from '../support/forward.ts'
import { storedLinks } from '../support/signed.ts'
import {
  insertToken,
  newSigner,
  personOf,
  type SignedRows,
  signedRows,
} from '../support/signed_rows.ts'

const DAY_MS = 86_400_000
const AT = '2026-11-22T00:00:00.000Z'
const [, sealedDelivery] = deliverEnvironment.result.options

let stage: Stage
let neighbour: SignedRows

beforeAll(async () => {
  stage = await openStage({
    env: { ADMIN_PORT: '0' },
    names: ['other.upstream.example'],
  })
  neighbour = await signedRows(stage, { secrets: { KEY: marked('sk_live_of_neighbour') } })
}, 60_000)
afterAll(() => stage.stop())

const sql = () => stage.app.connection.sql
const origin = () => stage.app.resolver
const call = (host = API): { target_url: string; headers: object; project_id?: string } => ({
  target_url: stage.url('/charges', host),
  headers: { authorization: 'Bearer SVC_SECRET_KEY' },
})

async function expectSent(rows: SignedRows): Promise<void> {
  const sent = stage.upstream.received.length
  expect(await rows.resolve(call())).toMatchObject({ status: 200, body: { status_code: 200 } })
  expect(stage.upstream.received.length).toBe(sent + 1)
}

/** Rejected with this code, recorded, and no byte was sent; the neighbour continues. */
async function expectRefused(rows: SignedRows, code: FaultCode, body = call()): Promise<void> {
  const { bytes } = stage.upstream
  const answer = await rows.resolve(body)
  expect(answer).toMatchObject({ status: statusOf(code), body: { error_code: code } })
  expect(stage.upstream.bytes).toBe(bytes)
  expect(await recordOf(stage.app, answer)).toMatchObject({ reason: code })
  await expectSent(neighbour)
}

const VALUE = marked('sk_live_')
const open = (options: Parameters<typeof signedRows>[1] = {}) =>
  signedRows(stage, { secrets: { KEY: VALUE, OTHER: marked('other_') }, ...options })

type Tamper = (rows: SignedRows) => Promise<unknown>

/** Checks states of the database that no client has seen before. */
function refusesAtFirstSight(
  tampers: Record<string, Tamper>,
  code: FaultCode = 'unverified_state',
): void {
  test.each(Object.entries(tampers))('%s', async (_, tamper) => {
    const rows = await open()
    await tamper(rows)
    await expectRefused(rows, code)
  })
}

const stranger = await newSigner('stranger')

test('a signed workspace is used like any other', async () => {
  const rows = await open()
  await expectSent(rows)
  expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${VALUE}`)
  const other = { ...call(), headers: { authorization: 'Bearer SVC_SECRET_OTHER' } }
  expect((await rows.resolve(other)).status).toBe(200)
  const unknown = { ...call(), headers: { authorization: 'Bearer SVC_SECRET_NONE' } }
  await expectRefused(rows, 'unknown_secret', unknown)
})

describe('a rejected chain', () => {
  refusesAtFirstSight({
    'that is not there': ({ workspaceId }) =>
      sql()`delete from workspace_links where workspace_id = ${workspaceId}`,
    'of which the first link is missing': ({ workspaceId }) =>
      sql()`delete from workspace_links where workspace_id = ${workspaceId} and seq = 1`,
    'of which a link says something else': ({ workspaceId }) =>
      sql()`update workspace_links set statement = replace(statement, 'upstream', 'mallory')
        where workspace_id = ${workspaceId} and seq = 2`,
    'with a signature of nobody': ({ workspaceId }) =>
      sql()`update workspace_links set signature = decode(repeat('00', 64), 'hex')
        where workspace_id = ${workspaceId} and seq = 2`,
    'with a link of another workspace': ({ workspaceId }) =>
      sql()`update workspace_links set (statement, signature) =
          (select statement, signature from workspace_links
            where workspace_id = ${neighbour.workspaceId} and seq = 2)
        where workspace_id = ${workspaceId} and seq = 2`,
  })

  test('a truncated chain is rejected once it was seen whole, and the whole one is accepted again', async () => {
    const rows = await open()
    await rows.link({ type: 'allowlist.changed', body: { add: ['more.example'], remove: [] } })
    await expectSent(rows)
    const { workspaceId } = rows
    const [newest] = await sql()<{ statement: string; signature: Uint8Array }[]>`
      delete from workspace_links where workspace_id = ${workspaceId} and seq = 3
      returning statement, signature`
    await expectRefused(rows, 'unverified_state')
    const { statement = '', signature = new Uint8Array() } = newest ?? {}
    await stage.app.connection.db
      .insert(workspaceLinks)
      .values({ workspaceId, seq: 3, statement, signature })
    await expectSent(rows)
  })
})

describe('the signed allowlist decides', () => {
  const elsewhere = () => call('other.upstream.example')

  test('the signed allowlist decides whatever the rows hold', async () => {
    const rows = await open()
    const domain = stage.authorityOf('other.upstream.example')
    await sql()`insert into allowlist_entries (id, workspace_id, domain)
      values (${Bun.randomUUIDv7()}, ${rows.workspaceId}, ${domain})`
    await expectRefused(rows, 'domain_blocked', elsewhere())
    await expectSent(rows)
  })

  test('links change the signed allowlist, for open calls too', async () => {
    const rows = await open()
    const domain = stage.authorityOf('other.upstream.example')
    await expectRefused(rows, 'domain_blocked', elsewhere())
    await rows.link({ type: 'allowlist.changed', body: { add: [domain], remove: [] } })
    expect((await rows.resolve(elsewhere())).status).toBe(200)
    await rows.link({ type: 'allowlist.changed', body: { add: [], remove: [domain] } })
    await expectRefused(rows, 'domain_blocked', elsewhere())
  })

  test('links change the epoch', async () => {
    const rows = await open()
    await sql()`update workspaces set epoch = 7, policy_version = policy_version + 1
      where id = ${rows.workspaceId}`
    await expectSent(rows)
  })
})

describe('a token is refused', () => {
  const set = (column: string, value: string): Tamper => {
    const text = `update tokens set ${column} = ${value} where id = $1`
    return ({ tokenId }) => sql().unsafe(text, [tokenId])
  }
  refusesAtFirstSight({
    'that a stranger granted': (rows) => rows.grant({}, stranger),
    'with a grant for another key': (rows) =>
      rows.grant({ public_key: stranger.identity.public_key }),
    'of another agent': set('agent_id', 'null'),
    'with other environments': set('environment', "'development'"),
    'with other projects': async (rows) => set('project_id', `'${rows.projectId}'`)(rows),
    'with another public key': set('public_key', `decode(repeat('09', 32), 'hex')`),
  })

  test('a token with a later end than its grant is rejected; one with an earlier end is used', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000)
    const later = await open({ expiresAt })
    await sql()`update tokens set expires_at = null where id = ${later.tokenId}`
    await expectRefused(later, 'unverified_state')
    const earlier = await open({ expiresAt })
    await sql()`update tokens set expires_at = now() + interval '1 minute' where id = ${earlier.tokenId}`
    await expectSent(earlier)
  })

  test('a token that the chain revoked is 401, whatever its row holds', async () => {
    const rows = await open()
    await expectSent(rows)
    await rows.link({ type: 'tokens.revoked', body: { token_ids: [rows.tokenId] } })
    await expectRefused(rows, 'invalid_token')
  })

  test('a token is refused after its administrator was demoted', async () => {
    const rows = await open()
    const admin = await newSigner('admin')
    const member = { ...personOf(admin) }
    await rows.link({ type: 'members.put', body: { members: [{ ...member, role: 'admin' }] } })
    await rows.grant({}, admin)
    await expectSent(rows)
    await rows.link({ type: 'members.put', body: { members: [{ ...member, role: 'member' }] } })
    await expectRefused(rows, 'unverified_state')
    await rows.link({ type: 'members.put', body: { members: [{ ...member, role: 'admin' }] } })
    await expectRefused(rows, 'unverified_state')
    await rows.grant({}, admin)
    await expectSent(rows)
  })

  test('a token without a grant or key is 409 until it has both', async () => {
    const rows = await open()
    await sql()`delete from token_grants where token_id = ${rows.tokenId}`
    await sql()`delete from token_envelopes where token_id = ${rows.tokenId}`
    await expectRefused(rows, 'key_not_provisioned')
    await rows.grant()
    await rows.provision()
    await expectSent(rows)
  })

  test('a token with an ID of the other kind of workspace is rejected', async () => {
    const rows = await open()
    const plain = await insertToken(
      stage.app,
      rows.workspaceId,
      { agentId: rows.registrationId, capabilities: ['use'] },
      Bun.randomUUIDv7(),
    )
    await expectRefused(
      { ...rows, resolve: (body) => resolveAs(origin(), plain.text, body) },
      'unverified_state',
    )
    const agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE } })
    const row = { agentId: agent.registrationId, capabilities: ['use' as const] }
    const signed = await insertToken(stage.app, agent.workspaceId, row)
    await expectRefused(
      { ...rows, resolve: (body) => resolveAs(origin(), signed.text, body) },
      'unverified_state',
    )
    expect((await agent.resolve(call())).status).toBe(200)
  })
})

describe('a rejected envelope', () => {
  refusesAtFirstSight({
    'that a stranger signed': (rows) => rows.provision(undefined, stranger),
    'that is not the one that was signed': async (rows) => {
      const [before] = await sql()<{ statement: string; signature: Uint8Array }[]>`
        select statement, signature from token_envelopes where token_id = ${rows.tokenId}`
      await rows.provision()
      const { statement = '', signature = new Uint8Array() } = before ?? {}
      await stage.app.connection.db
        .update(tokenEnvelopes)
        .set({ statement, signature })
        .where(eq(tokenEnvelopes.tokenId, rows.tokenId))
    },
    'that the outer layer does not open': ({ tokenId }) =>
      sql()`update token_envelopes set envelope = envelope || decode('00', 'hex') where token_id = ${tokenId}`,
  })
})

describe('a rejected environment', () => {
  const insert = async (rows: SignedRows, key: string, value: string) =>
    stage.app.connection.db.insert(secrets).values(await rows.row(key, value))
  const remove = ({ projectId }: SignedRows, key: string) =>
    sql()`delete from secrets where project_id = ${projectId} and key = ${key}`

  test('an older state is refused together with its older manifest', async () => {
    const rows = await open()
    const { db } = stage.app.connection
    const [older] = await db.select().from(manifests).where(eq(manifests.projectId, rows.projectId))
    await rows.store({ MORE: marked('more_') })
    await expectSent(rows)
    const [newest] = await db
      .select()
      .from(manifests)
      .where(eq(manifests.projectId, rows.projectId))
    if (!older || !newest) throw new Error('there are no manifests')
    const put = (row: typeof older) =>
      db.update(manifests).set(row).where(eq(manifests.projectId, rows.projectId))
    await remove(rows, 'MORE')
    await put(older)
    await expectRefused(rows, 'unverified_state')
    await insert(rows, 'MORE', marked('another_'))
    await put(newest)
    await expectRefused(rows, 'unverified_state')
    await rows.store({ MORE: marked('more_') })
    await expectSent(rows)
  })

  test('an environment is rejected if its secrets disappear with their manifest after it was seen', async () => {
    const rows = await open()
    await expectSent(rows)
    const { workspaceId } = rows
    await stage.app.connection.db.transaction(async (tx) => {
      await tx.delete(secrets).where(eq(secrets.workspaceId, workspaceId))
      await tx.delete(manifests).where(eq(manifests.workspaceId, workspaceId))
    })
    await expectRefused(rows, 'unverified_state')
    await rows.store({ KEY: VALUE })
    await expectRefused(rows, 'unverified_state')
    await rows.manifest(undefined, 2)
    await expectSent(rows)
  })

  test('an environment is rejected for either token, whichever of them is used', async () => {
    const rows = await open()
    await rows.provision('staging')
    await rows.store({ STAGED: marked('staged_') }, { environment: 'staging' })
    await expectSent(rows)
    await sql()`delete from secrets where project_id = ${rows.projectId} and environment = 'staging'`
    await expectRefused(rows, 'unverified_state')
  })
})

describe('open connections and cached results', () => {
  test('an open connection ends when the workspace no longer verifies', async () => {
    const rows = await open()
    const { promise: wire, resolve } = Promise.withResolvers<TLSSocket>()
    stage.upstream.on('/open', (_, socket) => resolve(socket))
    const pending = streamAs(stage, rows, { ...call(), target_url: stage.url('/open') })
    const socket = await wire
    socket.write(
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    socket.write('b\r\ndata: one\n\n\r\n')
    const answer = await pending
    const closed = new Promise<void>((end) => socket.once('close', () => end()))
    await sql()`delete from manifests where project_id = ${rows.projectId}`
    await expect(answer.text()).rejects.toThrow()
    await closed
    expect(await recordOfAnswer(stage, answer)).toMatchObject({ reason: 'unverified_state' })
    await expectSent(neighbour)
  })

  test('an unverified workspace is logged once, and counted; a grant that expired by the process clock is 401', async () => {
    const rows = await open()
    await sql()`delete from manifests where project_id = ${rows.projectId}`
    const count = async () => {
      const families = parseExposition(await (await fetch(`${stage.app.admin}/metrics`)).text())
      return sumOf(families, 'cloakroom_unverified_state_total', {})
    }
    const before = await count()
    await expectRefused(rows, 'unverified_state')
    await expectRefused(rows, 'unverified_state')
    expect(await count()).toBe(before + 1)
    stage.app.clock.advance(6_000)
    await expectRefused(rows, 'unverified_state')
    expect(await count()).toBe(before + 2)
    const lines = stage.app.logs.filter((line) => line.includes(rows.workspaceId))
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        time: expect.any(String),
        level: 'error',
        pid: process.pid,
        message:
          'the stored data of a signed workspace does not match its signatures: nothing is sent',
        workspace_id: rows.workspaceId,
        why: 'the manifest is refused: the stored secrets differ from the signed ones (missing)',
      },
    ])
    await rows.manifest(undefined, 2)
    await expectSent(rows)
  })

  test('a grant that has been over for a day by the clock of the process is 401, whatever the database holds', async () => {
    const rows = await open({ expiresAt: new Date(stage.app.clock.now() + 3_600_000) })
    await expectSent(rows)
    stage.app.clock.advance(DAY_MS)
    await expectSent(rows)
    stage.app.clock.advance(3_600_001)
    await expectRefused(rows, 'invalid_token')
  })

  test('a grant that expires while its verdict is cached is 401, too', async () => {
    const rows = await open({ expiresAt: new Date(stage.app.clock.now() + 3_600_000) })
    stage.app.clock.advance(DAY_MS + 3_599_000)
    await expectSent(rows)
    stage.app.clock.advance(2_000)
    await expectRefused(rows, 'invalid_token')
  })

  test('a secret of a large environment is the signed one, read by its name', async () => {
    const rows = await open()
    const large = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`LARGE_${at}`, marked('x'.repeat(2_000))]),
    )
    await rows.store(large)
    await expectSent(rows)
    await sql().unsafe('alter table secrets disable trigger user')
    try {
      const { projectId } = rows
      await sql()`delete from secrets where project_id = ${projectId} and key = 'LARGE_7'`
      const other = { ...call(), headers: { authorization: 'Bearer SVC_SECRET_LARGE_7' } }
      await expectRefused(rows, 'unverified_state', other)
    } finally {
      await sql().unsafe('alter table secrets enable trigger user')
    }
  })
})

describe('a delivery', () => {
  const deliver = (token: string, body: unknown = {}) =>
    callJson(stage.app.controlPlane, 'POST', '/api/workloads/env/', { token, body })
  const reader = () => open({ capabilities: ['use', 'read'], bound: true })

  test('a delivery has the stored values, and none that was not signed', async () => {
    const rows = await reader()
    expect(await deliver(rows.token)).toMatchObject({
      status: 200,
      body: { secrets: { KEY: VALUE, OTHER: marked('other_') } },
    })
    await sql()`delete from secrets where project_id = ${rows.projectId} and key = 'OTHER'`
    for (const token of [rows.token, rows.sealed]) {
      const answer = await deliver(token)
      expect(answer).toMatchObject({ status: 409, body: { error_code: 'unverified_state' } })
      expect(await recordOf(stage.app, answer)).toMatchObject({ reason: 'unverified_state' })
    }
    await expectSent(neighbour)
  })

  test('a delivery to the sealed form of a token does not vouch for its chain: the whole token does, or is rejected', async () => {
    const rows = await reader()
    const [row] = await sql()`select binding from token_grants where token_id = ${rows.tokenId}`
    const bind = (binding: Uint8Array) =>
      sql()`update token_grants set binding = ${Buffer.from(binding)} where token_id = ${rows.tokenId}`
    await bind(new Uint8Array(32))
    expect((await deliver(rows.sealed)).status).toBe(200)
    await expectRefused(rows, 'unverified_state')
    expect(await deliver(rows.token)).toMatchObject({ body: { error_code: 'unverified_state' } })
    await bind(row?.binding)
    expect((await deliver(rows.sealed)).status).toBe(200)
    await expectSent(rows)
  })

  test('a sealed delivery has everything that its client verifies', async () => {
    const rows = await reader()
    await rows.store({ HIDDEN: marked('hidden_') }, { policy: { allowed_locations: ['header'] } })
    const { body } = await deliver(rows.sealed)
    const answer = sealedDelivery.parse(body)
    const { links = [], grant, binding = '', manifest } = answer
    const chain = await replay(rows.workspaceId, links)
    expect(links.map(({ seq }) => seq)).toEqual([1, 2])
    const { id, secret } = parseToken(rows.token) ?? { id: '', secret: new Uint8Array() }
    await requireBinding({ id, secret: new Uint8Array(secret) }, readFirstHash(chain), binding)
    if (!grant || !manifest) throw new Error('there is no grant, or no manifest')
    await verifyGrant(chain, grant, { id }, new Date())
    const [entry] = answer.envelopes
    const { statement = '', signature = '', envelope = '' } = entry ?? {}
    await verifyEnvelope(
      chain,
      { statement, signature },
      {
        ...{ tokenId: id, projectId: rows.projectId, environment: rows.environment, epoch: 1 },
        envelope: new Uint8Array(Buffer.from(envelope, 'base64')),
      },
    )
    const stored = Object.entries(answer.sealed).map(
      ([name, { value }]) => [name, sha256(Buffer.from(value, 'base64'))] as const,
    )
    const left = Object.entries(answer.value_sha256 ?? {}).map(
      ([name, hash]) => [name, new Uint8Array(Buffer.from(hash, 'base64url'))] as const,
    )
    expect(left.map(([name]) => name)).toEqual(['HIDDEN'])
    const place = { projectId: rows.projectId, environment: rows.environment }
    await verifyManifest(chain, manifest, { ...place, rows: new Map([...stored, ...left]) })
    const later = sealedDelivery.parse((await deliver(rows.sealed, { links_after: 1 })).body)
    expect(later.links?.map(({ seq }) => seq)).toEqual([2])
  })

  test('the delivery of a plain workspace has no signed state', async () => {
    const agent = await createAgentWithToken(stage, {
      ofProject: true,
      capabilities: ['use', 'read'],
    })
    const { id, secret } = parseToken(agent.token) ?? { id: '', secret: new Uint8Array() }
    const { body } = await deliver(formatSealedToken(id, secret), { environment: 'development' })
    expect(Object.keys(body as object).sort()).toEqual(
      ['envelopes', 'environment', 'project_id', 'sealed', 'status', 'workspace_id'].sort(),
    )
  })
})

describe('the lists that a token receives', () => {
  const LISTS = ['/v1/credentials/', '/v1/shapes/', '/v1/allowlist']
  const list = (rows: SignedRows, path: string) =>
    callJson(stage.app.resolver, 'GET', path, { token: rows.token })

  test.each([...LISTS, '/api/workloads/token/'])(
    '%s is rejected without the grant of the token',
    async (path) => {
      const rows = await open()
      expect((await list(rows, path)).status).toBe(200)
      await sql()`delete from token_grants where token_id = ${rows.tokenId}`
      expect(await list(rows, path)).toMatchObject({ body: { error_code: 'unverified_state' } })
      await rows.grant()
      expect((await list(rows, path)).status).toBe(200)
    },
  )

  test('the listed names are the signed ones', async () => {
    const rows = await open()
    const names = async () =>
      ((await list(rows, '/v1/credentials/')).body as { name: string }[]).map(({ name }) => name)
    expect(await names()).toEqual(['KEY', 'OTHER'])
    await sql()`update workspaces set epoch = 5 where id = ${rows.workspaceId}`
    expect(await names()).toEqual(['KEY', 'OTHER'])
  })

  test("a report to the audit is rejected without the token's grant", async () => {
    const rows = await open()
    const report = {
      timestamp: new Date().toISOString(),
      method: 'GET',
      target_domain: 'a.example',
    }
    const send = () =>
      stage.app.call('POST', '/api/internal/audit/logs/', { token: rows.token, body: report })
    expect((await send()).status).toBe(201)
    await sql()`delete from token_grants where token_id = ${rows.tokenId}`
    expect((await send()).status).toBe(409)
  })
})

describe('other effects of a token', () => {
  test('names are those of the granted environment; another project only makes them ambiguous', async () => {
    const rows = await open()
    const other = Bun.randomUUIDv7()
    const { db } = stage.app.connection
    await db.insert(projects).values({ id: other, workspaceId: rows.workspaceId, name: 'other' })
    await db
      .insert(secrets)
      .values({ ...(await rows.row('KEY', marked('mallory_'))), projectId: other })
    await expectRefused(rows, 'ambiguous_secret')
    const own = { ...call(), project_id: rows.projectId }
    expect((await rows.resolve(own)).status).toBe(200)
    expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${VALUE}`)
    await expectRefused(rows, 'key_not_provisioned', { ...call(), project_id: other })
  })

  test('a chain whose newest link was replaced by another of the same founder is rejected', async () => {
    const rows = await open()
    await rows.link({ type: 'allowlist.changed', body: { add: ['one.example'], remove: [] } })
    await expectSent(rows)
    const { workspaceId, founder } = rows
    const before = await replay(
      workspaceId,
      (await storedLinks(stage.app, workspaceId)).slice(0, 2),
    )
    const body = { add: ['two.example'], remove: [] }
    const said = { type: 'allowlist.changed', body, at: AT, signer: founder.userId } as const
    const { statement, signature } = await signLink(before, said, founder.identity.signingKey)
    await stage.app.connection.db
      .update(workspaceLinks)
      .set({ statement, signature: new Uint8Array(Buffer.from(signature, 'base64')) })
      .where(and(eq(workspaceLinks.workspaceId, workspaceId), eq(workspaceLinks.seq, 3)))
    await expectRefused(rows, 'unverified_state')
  })

  test('calls succeed while the workspace is written to without a pause', async () => {
    const rows = await open()
    let isOver = false
    const writing = (async () => {
      while (!isOver)
        await sql()`update workspaces set policy_version = policy_version + 1 where id = ${rows.workspaceId}`
    })()
    for (let calls = 0; calls < 3; calls += 1) await expectSent(rows)
    isOver = true
    await writing
  })
})
