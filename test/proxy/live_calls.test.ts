// tier: quick
/** A call that is open at the local proxy ends when the same call would now be rejected. */
import { afterAll, describe, expect, test } from 'bun:test'
import { Fault } from '../../src/core/fault.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import { deleteAgent, registerAgent } from '../../src/features/agents/contract.ts'
import { parseTarget } from '../../src/outbound/target.ts'
import { LocalLiveCalls } from '../../src/proxy/local/live_calls.ts'
import { API } from '../support/agent.ts'
import { FakeTimers } from '../support/fake_timers.ts'
import { startGrpcUpstream } from '../support/grpc_upstream.ts'
import { sendRaw } from '../support/raw_http.ts'
import { requires } from '../support/requires.ts'
import { accepting } from '../support/socket_upstream.ts'
import { until } from '../support/until.ts'
import { openGrpcClient } from './grpc_client.ts'
import { openProxyStage } from './stage.ts'

const BESIDE = 'beside.upstream.example'
const JUDGE_MS = 1_000
/** Milliseconds between two uploads of audit records. */
const UPLOAD_MS = 1_000

const stage = await openProxyStage([BESIDE])
const { agent, upstream } = stage
const grpcUpstream = await startGrpcUpstream(stage.authority, [API])
const clock = { ahead: 0 }
const timers = new FakeTimers()
const time = { now: () => Date.now() + clock.ahead, timers }
const proxy = await stage.open('local', { time })
const grpc = openGrpcClient(proxy, stage.directory)
afterAll(async () => {
  grpc.close()
  await stage.stop()
  await grpcUpstream.stop()
})

const hosts = {
  grpc: `${API}:${grpcUpstream.port}`,
  http: stage.authorityOf(),
  beside: stage.authorityOf(BESIDE),
}
await agent.allow(hosts.beside)

/** Ages the data that the proxy has read. */
const grow = () => {
  clock.ahead += 11_000
}

/** Makes the proxy check open calls once more. */
const judge = () => timers.advance(JUDGE_MS)

/** Resolves when the call is open; `ended` resolves with how it ended. */
type Open = (path: string) => Promise<{ ended: Promise<unknown> }>

const EVENT_STREAM =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const EVENT = '9\r\ndata: 1\n\n\r\n'

async function openEvents(host: string, path: string, key: string, through = proxy) {
  const goOn = Promise.withResolvers<void>()
  upstream.on(path, async (_, wire) => {
    wire.write(EVENT_STREAM + EVENT)
    await goOn.promise
    wire.write(`${EVENT}0\r\n\r\n`)
  })
  const headers = { authorization: `SVC_SECRET_${key}` }
  const answer = await fetch(`${through.baseUrl}/${host}${path}`, { headers })
  const reader = answer.body?.getReader()
  await reader?.read()
  const rest = async () => {
    const read = await reader?.read()
    return Buffer.from(read?.value ?? []).toString()
  }
  return { goOn: goOn.resolve, rest }
}

const kinds: Record<string, { host: string; open: Open; ending(code: string): unknown }> = {
  'a call of gRPC': {
    host: hosts.grpc,
    open: async (path) => {
      const begun = Promise.withResolvers<void>()
      grpcUpstream.on(path, ({ begin, send }) => {
        begin()
        send('first')
        begun.resolve()
      })
      const metadata = { authorization: 'SVC_SECRET_LIVE' }
      const ended = grpc.call({ host: hosts.grpc, path, messages: ['hello'], metadata })
      await begun.promise
      return { ended }
    },
    ending: () => expect.objectContaining({ code: 7 }),
  },
  'a stream of events': {
    host: hosts.http,
    open: async (path) => {
      const { rest } = await openEvents(hosts.http, path, 'LIVE')
      return {
        ended: rest().then(
          () => 'went on',
          () => 'broke off',
        ),
      }
    },
    ending: () => 'broke off',
  },
  'a WebSocket': {
    host: hosts.http,
    open: async (path) => {
      upstream.on(
        path,
        accepting(() => {}),
      )
      const url = `${proxy.baseUrl.replace('http', 'ws')}/${hosts.http}${path}`
      const headers = { authorization: 'SVC_SECRET_LIVE' }
      const socket = new WebSocket(url, { headers } as never)
      const ended = new Promise((resolve) => {
        socket.onclose = ({ code, reason }) => resolve({ code, reason })
      })
      await new Promise<void>((resolve) => {
        socket.onopen = () => resolve()
      })
      return { ended }
    },
    ending: (code) => ({ code: 1008, reason: code }),
  },
}

const store = (policy: Policy) => agent.store('LIVE', 'value of LIVE', { policy })

const changes: Record<string, { code: string; make(host: string): Promise<void> }> = {
  'its host leaves the allowlist': { code: 'domain_blocked', make: agent.disallow },
  'the policy of its secret names other domains': {
    code: 'policy_blocked',
    make: () => store({ allowed_domains: ['other.example'] }),
  },
}

const cases = Object.entries(kinds).flatMap(([kind, parts]) =>
  Object.entries(changes).map(([change, { code, make }]) => ({
    kind,
    change,
    ...parts,
    code,
    make,
  })),
)

describe.each(['a call of gRPC', 'a stream of events', 'a WebSocket'])('%s', (kind) => {
  const { test } = kind === 'a call of gRPC' ? requires('node') : requires()
  const some = cases.filter((each) => each.kind === kind)
  test.each(some)(
    'an open call ends when $change, and a permitted call continues',
    async (live) => {
      const { host, open, ending, code, make } = live
      const path = `/live/${cases.indexOf(live)}`
      await agent.allow(host)
      await store({})
      grow()
      const { ended } = await open(path)
      const beside = await openEvents(hosts.beside, `${path}/beside`, 'KEY')
      await make(host)
      grow()
      await judge()
      expect(await ended).toEqual(ending(code))
      beside.goOn()
      expect(await beside.rest()).toBe('data: 1\n\n')
      expect(await reasonOf(path)).toBe(code)
    },
  )
})

test("a removed agent's open calls end, and its next call is rejected with the reason", async () => {
  const { api } = agent.person
  const params = { workspace_id: agent.workspaceId }
  const registered = await api.call(registerAgent, { params, body: { name: 'passing' } })
  const named = { id: registered.agent.id, name: 'passing' }
  const its = await stage.open('local', { time, named, standIns: true })
  const open = await openEvents(hosts.http, '/live/its', 'KEY', its)
  const beside = await openEvents(hosts.beside, '/live/nobody', 'KEY')
  await api.call(deleteAgent, { params: { ...params, registration_id: named.id } })
  grow()
  await judge()
  expect(await open.rest().catch(() => 'broke off')).toBe('broke off')
  const message = 'The agent passing was deleted, so the call was not sent.'
  const answer = await fetch(`${its.baseUrl}/${hosts.http}/next`)
  expect([answer.status, await answer.json()]).toMatchObject([
    403,
    { error_code: 'forbidden', message },
  ])
  // Without a change, stand-ins would arrive where credentials are expected.
  const login = btoa(`cloakroom:${new URL(its.url).password}`)
  const head = `GET https://${hosts.http}/next HTTP/1.1\r\nHost: ${hosts.http}\r\nProxy-Authorization: Basic ${login}`
  expect((await sendRaw(its.baseUrl, `${head}\r\n\r\n`)).text).toContain(message)
  expect(its.notices.filter((text) => text === message)).toHaveLength(1)
  beside.goOn()
  expect(await beside.rest()).toBe('data: 1\n\n')
})

async function reasonOf(path: string) {
  const found = await until(async () => {
    await timers.advance(UPLOAD_MS)
    const records = await stage.records('client')
    return records.find((record) => record.target_path === path && record.status_code)
  })
  expect(found.decision).toBe('error')
  return found.reason
}

describe('without a vault', () => {
  const target = parseTarget('https://api.example/')
  const basis = {
    scope: { projectId: 'one', environment: 'development' },
    placeholders: [],
    asked: { target, method: 'GET', override: null, isMultipart: false, operations: [] },
  }
  test('open calls end with the code that rejects new calls', async () => {
    const vault = { current: () => Promise.reject(new Fault('forbidden')) }
    const calls = new LocalLiveCalls(
      { vault, place: { projectId: 'one', environment: 'x' } },
      timers,
    )
    const ended = new Promise<Fault>((resolve) => void calls.hold(basis, resolve))
    await judge()
    expect((await ended).code).toBe('forbidden')
    calls.close()
  })

  test('the vault is not read while no call is open', async () => {
    let reads = 0
    const current = async () => {
      reads += 1
      throw new Fault('unavailable')
    }
    const place = { projectId: 'one', environment: 'x' }
    const calls = new LocalLiveCalls({ vault: { current }, place }, timers)
    const ended = new Promise<Fault>((resolve) => void calls.hold(basis, resolve))
    await judge()
    await ended
    await timers.advance(5 * JUDGE_MS)
    expect(reads).toBe(1)
    calls.close()
  })
})
