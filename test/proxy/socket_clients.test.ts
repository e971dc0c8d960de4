// tier: all
/**
 * Clients of WebSocket services, with stand-ins behind the local proxy: Discord and Home Assistant accept the token
 * in a message, Slack in the request for an address, OpenAI in the handshake.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { marked } from '../support/canary.ts'
import { otherPackages } from '../support/other_programs.ts'
import { accepting, frame } from '../support/socket_upstream.ts'
import { answerOf } from '../support/upstream.ts'
import { type OpenProxy, openProxyStage } from './stage.ts'

await otherPackages()
const stage = await openProxyStage()
afterAll(stage.stop)

const LISTED = { policy: { allowed_locations: ['header' as const, 'websocket' as const] } }
const TOKENS = {
  DISCORD: marked('MTIzNDU2.GdEFgh.discord-bot_token'),
  HASS: marked('eyJhbGciOi.home-assistant'),
  SLACK: marked('xapp-1-A0123-4567-'),
  OPENAI: marked('sk-proj-0123456789'),
}

type Message = Record<string, unknown>
let proxy: OpenProxy
/** The address of the service for its client. */
let base: string

beforeAll(async () => {
  for (const [name, value] of Object.entries(TOKENS)) await stage.agent.store(name, value, LISTED)
  proxy = await stage.open('local', { standIns: true })
  base = `${proxy.baseUrl}/${stage.authorityOf()}`
})

/** A service that answers messages with messages. */
function serve(path: string, first: Message | null, answer: (message: Message) => Message | null) {
  const received: Message[] = []
  const script = accepting(async ({ wire, next }) => {
    const send = (message: Message | null) => {
      if (message) wire.write(frame(1, JSON.stringify(message)))
    }
    send(first)
    for (let read = await next(); read.opcode === 1; read = await next()) {
      const message = JSON.parse(read.payload.toString())
      received.push(message)
      for (const one of [message].flat()) send(answer(one))
    }
    wire.end()
  })
  stage.upstream.on(path, script)
  return received
}

function serveJson(path: string, answer: (authorization: string | undefined) => unknown) {
  stage.upstream.on(path, ({ header }, wire) => {
    const body = JSON.stringify(answer(header('authorization')))
    wire.write(answerOf(200, { 'content-type': 'application/json' }, body))
  })
}

const standIn = (name: keyof typeof TOKENS) => proxy.standIns[name] ?? ''

test("Discord's gateway accepts the bot's token in IDENTIFY", async () => {
  const { WebSocketManager } = await import('@discordjs/ws')
  const { REST } = await import('@discordjs/rest')
  const rest = new REST({ api: `${base}/api` }).setToken(standIn('DISCORD'))
  let authorization: string | undefined
  serveJson('/api/v10/gateway/bot', (sent) => {
    authorization = sent
    const limit = { total: 1000, remaining: 1000, reset_after: 0, max_concurrency: 1 }
    return { url: `${base.replace('http', 'ws')}/gateway`, shards: 1, session_start_limit: limit }
  })
  const user = { id: '1', username: 'bot' }
  const ready = { session_id: 's', resume_gateway_url: 'wss://gateway.example', user }
  const received = serve('/gateway', { op: 10, d: { heartbeat_interval: 45_000 } }, ({ op }) =>
    op === 2 ? { op: 0, t: 'READY', s: 1, d: ready } : null,
  )
  const manager = new WebSocketManager({
    token: standIn('DISCORD'),
    intents: 0,
    rest,
  })
  await manager.connect()
  await manager.destroy()
  expect(authorization).toBe(`Bot ${TOKENS.DISCORD}`)
  expect(received[0]).toMatchObject({ op: 2, d: { token: TOKENS.DISCORD } })
})

test('Home Assistant accepts the token in the first message', async () => {
  const { createConnection, createLongLivedTokenAuth } = await import('home-assistant-js-websocket')
  const hello = { type: 'auth_required', ha_version: '2026.1.0' }
  const received = serve('/api/websocket', hello, ({ type, id, access_token }) =>
    type === 'auth'
      ? { type: access_token === TOKENS.HASS ? 'auth_ok' : 'auth_invalid', ha_version: '2026.1.0' }
      : { id, type: 'result', success: true, result: { echo: TOKENS.HASS } },
  )
  const auth = createLongLivedTokenAuth(base, standIn('HASS'))
  const connection = await createConnection({ auth })
  const result = await connection.sendMessagePromise({ type: 'get_states' })
  connection.close()
  expect(received[0]).toEqual({ type: 'auth', access_token: TOKENS.HASS })
  expect(result).toEqual({ echo: standIn('HASS') })
})

test("Slack's socket mode gets its address with the app's token", async () => {
  const { SocketModeClient } = await import('@slack/socket-mode')
  serveJson('/api/apps.connections.open', (authorization) =>
    authorization === `Bearer ${TOKENS.SLACK}`
      ? { ok: true, url: `${base.replace('http', 'ws')}/link/?ticket=1` }
      : { ok: false, error: 'invalid_auth' },
  )
  const hello = { type: 'hello', num_connections: 1, connection_info: { app_id: 'A0123' } }
  const received = serve('/link/', hello, () => null)
  const client = new SocketModeClient({
    appToken: standIn('SLACK'),
    clientOptions: { slackApiUrl: `${base}/api/` },
  })
  await client.start()
  await client.disconnect()
  expect(received).toEqual([])
})

test("OpenAI's realtime API accepts the key in the handshake", async () => {
  const { OpenAIRealtimeWebSocket } = await import('openai/realtime/websocket')
  const { OpenAI } = await import('openai')
  const received = serve('/v1/realtime', { type: 'session.created' }, ({ type }) =>
    type === 'session.update' ? { type: 'session.updated' } : null,
  )
  // The client requires TLS, so it goes through CONNECT, like a program that HTTPS_PROXY is set for.
  class Proxied extends WebSocket {
    constructor(url: string | URL, protocols: string[]) {
      super(url, { protocols, proxy: proxy.url, tls: { ca: proxy.certificate } } as never)
    }
  }
  const Direct = globalThis.WebSocket
  globalThis.WebSocket = Proxied as never
  const baseURL = `https://${stage.authorityOf()}/v1`
  const client = new OpenAI({ apiKey: standIn('OPENAI'), baseURL })
  const socket = await OpenAIRealtimeWebSocket.create(client, { model: 'm' }).finally(() => {
    globalThis.WebSocket = Direct
  })
  const updated = Promise.withResolvers<void>()
  socket.on('session.created', () =>
    socket.send({ type: 'session.update', session: { type: 'realtime' } }),
  )
  socket.on('session.updated', () => updated.resolve())
  socket.on('error', (error) => updated.reject(error))
  await updated.promise
  socket.close()
  expect(received).toEqual([{ type: 'session.update', session: { type: 'realtime' } }])
})
