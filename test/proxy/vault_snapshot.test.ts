// tier: quick
/** How long the local backend uses its cached data, by a clock that the test moves. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { ApiError } from '../../src/client/http/api.ts'
import { toPlainWorkspace } from '../../src/client/workspace.ts'
import type { FaultCode } from '../../src/core/fault.ts'
import { listAuditLogs } from '../../src/features/audit/contract.ts'
import { deleteSecret } from '../../src/features/secrets/contract.ts'
import { ticketsFor } from '../../src/outbound/signing/token_answer.ts'
import {
  VaultCache,
  type VaultPlace,
  type VaultSnapshot,
} from '../../src/proxy/local/vault_snapshot.ts'
import { type Agent, createAgentWithToken, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'

const stage = await sharedStage()
afterAll(stage.stop)

const MINUTE_MS = 60_000
let agent: Agent
let now: number
let trouble: Error | null
let reads: number
let cache: VaultCache

beforeEach(async () => {
  agent = await createAgentWithToken(stage, {
    secrets: { KEY: marked('the value') },
    domains: ['one.example'],
  })
  const { api, workspaceKey: key } = agent.person
  ;[now, trouble, reads] = [1_000_000, null, 0]
  const place: VaultPlace = {
    api,
    workspace: async () => {
      reads += 1
      if (trouble) throw trouble
      return toPlainWorkspace({ id: agent.workspaceId, name: '', epoch: 1, key })
    },
    projectId: agent.projectId,
    environment: agent.environment,
  }
  cache = new VaultCache(place, () => now)
})

async function refusal(): Promise<FaultCode | 'none'> {
  const error = await cache.current().then(
    () => null,
    (thrown) => thrown,
  )
  return error === null ? 'none' : error.code
}

describe('a snapshot', () => {
  test('a snapshot is read once for all requests within ten seconds', async () => {
    await Promise.all([cache.current(), cache.current(), cache.current()])
    now += 9_999
    await cache.current()
    expect(reads).toBe(1)
  })

  test('a snapshot includes changes on the server after ten seconds', async () => {
    expect((await cache.current()).allows('one.example', 443)).toBe(true)
    await agent.disallow('one.example')
    await agent.allow('two.example')
    await agent.store('NEW', 'x')
    now += 10_000
    const snapshot = await cache.current()
    expect(snapshot.allows('one.example', 443)).toBe(false)
    expect(snapshot.allows('two.example', 443)).toBe(true)
    expect(snapshot.sealed('NEW')).toMatchObject({ key: 'NEW', policy: null })
  })

  test('a snapshot opens a requested value, and rejects one whose policy was altered', async () => {
    const snapshot = await cache.current()
    const sealed = snapshot.sealed('KEY')
    if (!sealed) throw new Error('there is no KEY')
    expect(Buffer.from(snapshot.open(sealed).reveal()).toString()).toBe(marked('the value'))
    const altered = { ...sealed, policy: { allowed_methods: [] } }
    expect(() => snapshot.open(altered)).toThrow('The secret KEY cannot be decrypted')
    expect(JSON.stringify(snapshot)).not.toContain(marked('the value'))
  })
})

describe('a vault that did not change', () => {
  const value = marked('the value')
  const readsOnRecord = async () => {
    const query = { workspace_id: agent.workspaceId, action: 'secret.read' }
    return (await agent.person.api.list(listAuditLogs, { query })).length
  }
  /** The state after ten seconds. */
  const later = () => {
    now += 10_000
    return cache.current()
  }
  const expectGuarded = async (snapshot: VaultSnapshot, text: string, isGuarded: boolean) => {
    const shown = (await snapshot.guard()).forCall({ used: [], made: [] }).headerValue(text)
    expect(shown === text).toBe(!isGuarded)
  }

  test('an unchanged vault is read again without a record of read values, and keeps its guard', async () => {
    const guard = await (await cache.current()).guard()
    expect(await readsOnRecord()).toBe(1)
    for (let turn = 0; turn < 5; turn += 1) expect(await (await later()).guard()).toBe(guard)
    expect([reads, await readsOnRecord()]).toEqual([6, 1])
    await expectGuarded(await later(), value, true)
  })

  test('an unchanged vault guards the token behind a ticket once it is used, also after it was read again', async () => {
    const token = 'ya29.a-token-that-an-api-handed-out-0123456789'
    const made = await ticketsFor('KEY', Buffer.from(value))(Response.json({ access_token: token }))
    const { access_token } = (await made.json()) as { access_token: string }
    const ticket = access_token.replace('SVC_SECRET_KEY-ticket-', '')
    const snapshot = await cache.current()
    await expectGuarded(snapshot, token, false)
    const bytes = { value: Buffer.from(value), token: Buffer.from(token) }
    snapshot.remember([{ name: 'KEY', ticket, ...bytes }])
    await expectGuarded(snapshot, token, true)
    await agent.store('MORE', marked('another value'))
    await expectGuarded(await later(), token, true)
  })

  test('an unchanged vault is kept when only the allowlist changed, which applies immediately', async () => {
    const guard = await (await cache.current()).guard()
    await agent.disallow('one.example')
    const snapshot = await later()
    expect(snapshot.allows('one.example', 443)).toBe(false)
    expect(await snapshot.guard()).toBe(guard)
    expect(await readsOnRecord()).toBe(1)
  })

  test.each([
    ['another value', () => agent.store('KEY', marked('another value'))],
    ['another policy', () => agent.store('KEY', value, { policy: { allowed_methods: [] } })],
    ['one secret more', () => agent.store('MORE', marked('another value'))],
  ])('a vault is read again completely after %s', async (_, change) => {
    const guard = await (await cache.current()).guard()
    await change()
    const snapshot = await later()
    expect(await snapshot.guard()).not.toBe(guard)
    expect(await readsOnRecord()).toBe(2)
    await later()
    expect(await readsOnRecord()).toBe(2)
  })

  test('a vault is replaced when a secret was deleted, and stored under its name again', async () => {
    await cache.current()
    const params = { project_id: agent.projectId, key: 'KEY' }
    const { environment } = agent
    await agent.person.api.call(deleteSecret, { params, query: { environment } })
    await agent.store('KEY', marked('another value'))
    const snapshot = await later()
    const sealed = snapshot.sealed('KEY')
    if (!sealed) throw new Error('there is no KEY')
    expect(Buffer.from(snapshot.open(sealed).reveal()).toString()).toBe(marked('another value'))
    await expectGuarded(snapshot, marked('another value'), true)
    await agent.person.api.call(deleteSecret, { params, query: { environment } })
    expect((await later()).sealed('KEY')).toBeUndefined()
  })
})

describe('an unavailable server', () => {
  test('the last snapshot is served for a quarter of an hour, and no longer', async () => {
    await cache.current()
    trouble = new TypeError('no connection')
    now += 14 * MINUTE_MS
    expect(await refusal()).toBe('none')
    now += MINUTE_MS
    expect(await refusal()).toBe('unavailable')
    trouble = null
    expect(await refusal()).toBe('none')
  })

  test('an unavailable server is asked again at most every five seconds', async () => {
    await cache.current()
    trouble = new ApiError(503, {})
    now += 10_000
    await cache.current()
    now += 4_999
    await cache.current()
    expect(reads).toBe(2)
    now += 1
    await cache.current()
    expect(reads).toBe(3)
  })

  test('no snapshot exists at the start', async () => {
    trouble = new TypeError('no connection')
    expect(await refusal()).toBe('unavailable')
  })
})

test.each([401, 403, 404])(
  'a server that answers %d ends the snapshot immediately',
  async (status) => {
    await cache.current()
    now += 10_000
    trouble = new ApiError(status, {})
    expect(await refusal()).toBe('forbidden')
    // An outage does not bring the old one back either.
    trouble = new TypeError('no connection')
    expect(await refusal()).toBe('unavailable')
  },
)
