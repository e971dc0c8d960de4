// tier: quick
/** A caller that disconnects ends its upstream call, by every route of the answer (protocol 6.2). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { BodyMemory } from '../../src/core/body_memory.ts'
import { systemClock } from '../../src/core/clock.ts'
import { Fault } from '../../src/core/fault.ts'
import { openOutbound } from '../../src/outbound/index.ts'
import { createLocalBackend } from '../../src/proxy/local/backend.ts'
import type { ProxyRecord } from '../../src/proxy/record.ts'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { until } from '../support/until.ts'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_caller_gone') } })
}, 30_000)
afterAll(() => stage.stop())

test('a caller that disconnects before an answer wrapped in JSON ends its call', async () => {
  const [arrived, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  stage.upstream.on('/never', (_, wire) => {
    wire.on('close', () => closed.resolve())
    arrived.resolve()
  })
  const caller = new AbortController()
  const call = resolveOn(stage.url('/never'), caller.signal)
  await arrived.promise
  caller.abort()
  expect(call).rejects.toThrow()
  await closed.promise
  expect(await recordOn('/never')).toEqual(GONE)
})

test('a caller that disconnects during the name lookup is recorded as disconnected, not as rejected', async () => {
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<string[]>()]
  stage.names.set(SLOW, () => {
    asked.resolve()
    return answered.promise
  })
  await agent.allow(SLOW)
  const caller = new AbortController()
  const call = resolveOn(`https://${SLOW}/left`, caller.signal)
  await asked.promise
  caller.abort()
  expect(call).rejects.toThrow()
  expect(await recordOn('/left')).toEqual(GONE)
  answered.resolve([])
})

const SLOW = 'slow.upstream.example'
const GONE = {
  decision: 'error',
  reason: 'caller_gone',
  status_code: 499,
  credential_ref: 'KEY',
}

function resolveOn(target_url: string, signal: AbortSignal): Promise<Response> {
  return fetch(`${stage.app.resolver}/v1/resolve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ target_url, headers: { authorization: 'Bearer SVC_SECRET_KEY' } }),
    signal,
  })
}

async function recordOn(path: string) {
  const { sql } = stage.app.connection
  return until(async () => {
    await stage.app.flushAudit()
    const [row] = await sql`
      select decision, reason, status_code, credential_ref from audit_logs
      where token_id = ${agent.tokenId} and target_path = ${path}`
    return row?.status_code ? { ...row } : null
  })
}

/** The local backend alone, with a vault that answers when the test permits it. */
function localStage() {
  const asked = Promise.withResolvers<void>()
  const vault = Promise.withResolvers<never>()
  const records: ProxyRecord[] = []
  const add = async (record: ProxyRecord) => {
    records.push(record)
  }
  const current = () => {
    asked.resolve()
    return vault.promise
  }
  const backend = createLocalBackend({
    bodies: new BodyMemory(),
    vault: { current },
    projectId: agent.projectId,
    environment: agent.environment,
    outbox: { add, begin: () => Promise.reject(new Error('nothing is let through')) },
    outbound: openOutbound({
      config: { RESOLVER_ALLOW_NETWORKS: '', RESOLVER_HOSTS: [], RESOLVER_CA_FILE: undefined },
      clock: systemClock,
      ownPorts: () => [],
    }),
    liveCalls: { hold: () => () => {} },
    timeoutMs: 60_000,
    close: async () => {},
  })
  const caller = new AbortController()
  const execute = () =>
    backend.execute({
      request: new Request('http://127.0.0.1/x', { signal: caller.signal }),
      authority: SLOW,
      pathAndQuery: '/left?q=typed',
      requestId: Bun.randomUUIDv7(),
      linkBase: null,
      upgrade: () => false,
    })
  return { asked, vault, records, caller, execute }
}

describe('a caller of the local proxy while the vault is read', () => {
  test('the record states that the caller disconnected, not that it was rejected', async () => {
    const { asked, vault, records, caller, execute } = localStage()
    const call = execute()
    await asked.promise
    caller.abort()
    vault.reject(new Fault('unavailable'))
    expect(call).rejects.toThrow()
    await call.catch(() => {})
    expect(records).toHaveLength(1)
    expect(records[0]).toMatchObject({
      target_url: `https://${SLOW}/left`,
      decision: 'error',
      reason: 'caller_gone',
      status_code: 499,
    })
  })

  test('the record of a rejected call keeps its reason, even if the caller disconnects early', async () => {
    const { asked, vault, records, caller, execute } = localStage()
    const call = execute()
    await asked.promise
    caller.abort()
    vault.reject(new Fault('forbidden'))
    await call.catch(() => {})
    expect(records).toMatchObject([{ decision: 'blocked', reason: 'forbidden', status_code: 403 }])
  })

  test('the record of a caller that stayed states why the call failed', async () => {
    const { vault, records, execute } = localStage()
    vault.reject(new Fault('unavailable'))
    await execute().catch(() => {})
    expect(records).toMatchObject([{ decision: 'error', reason: 'unavailable', status_code: 503 }])
  })
})
