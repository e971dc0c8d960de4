// tier: quick
/** Programs with stand-ins, behind either proxy: what arrives upstream, and what they get back. */
import { afterAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import type { FaultCode } from '../../src/core/fault.ts'
import { statusOf } from '../../src/core/fault.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import { marked } from '../support/canary.ts'
import { settle } from '../support/fake_timers.ts'
import { requires } from '../support/requires.ts'
import { accepting, closing, frame } from '../support/socket_upstream.ts'
import { answerOf, chunked } from '../support/upstream.ts'
import { KEY, type OpenProxy, openProxyStage, runWith } from './stage.ts'

const stage = await openProxyStage()
afterAll(stage.stop)
const { agent, upstream } = stage

const PEM = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()
const [USER, PASSWORD] = [marked('0123456789abcdef'), marked('url-pass')]
const values: Record<string, [value: string, policy?: Policy]> = {
  PASSWORD: [marked('a password, and a long one')],
  GET_ONLY: [marked('ghp_getonly'), { allowed_methods: ['GET'] }],
  IN_QUERY: [marked('query+/='), { allowed_locations: ['query'] }],
  IN_PATH: [marked('12345678:in_path'), { allowed_locations: ['path'] }],
  IN_JSON: [PEM, { allowed_locations: ['json'] }],
  IN_FORM: [marked('form&='), { allowed_locations: ['form'] }],
  IN_MESSAGE: [marked('bot "token" in messages'), { allowed_locations: ['websocket'] }],
  OAUTH: [marked('client+%/=secret'), { basic_encoding: 'form' }],
  SETTING: ['eu-west-1', { sensitive: false }],
  REPOSITORY: [`https://ada:${PASSWORD}@git.example/repo`],
  DSN: [`https://${USER}@o1.ingest.example/42`],
}
for (const [name, [value, policy]] of Object.entries(values)) {
  await agent.store(name, value, policy ? { policy } : {})
}
upstream.on('/echo', ({ header }, wire) => {
  const sent = header('authorization') ?? ''
  wire.write(answerOf(200, { 'content-type': 'text/plain', 'x-echo': sent }, `got ${sent}`))
})

const proxies = {
  local: await stage.open('local', { standIns: true }),
  remote: await stage.open('remote', { standIns: true }),
}

const last = () => upstream.received.at(-1)
const lastBody = () => Buffer.from(last()?.body ?? []).toString()

describe.each(Object.entries(proxies))('behind the %s proxy', (_, proxy) => {
  const { standIns } = proxy
  const textOf = (name: string) => standIns[name] ?? ''
  const send = (path: string, init: RequestInit = {}, through: OpenProxy = proxy) =>
    fetch(`${through.baseUrl}/${stage.authorityOf()}${path}`, { redirect: 'manual', ...init })
  const bearer = (name: string) => ({ authorization: `Bearer ${textOf(name)}` })

  test('every credential has its own stand-in, and a setting none', () => {
    const parts = ['REPOSITORY__USER', 'REPOSITORY__PASSWORD', 'DSN__USER']
    const names = [...Object.keys(values), 'KEY', 'LOGIN', ...parts].filter(
      (name) => name !== 'SETTING',
    )
    expect(Object.keys(standIns).sort()).toEqual(names.sort())
    expect(new Set(Object.values(standIns)).size).toBe(names.length)
    expect(textOf('KEY')).toStartWith('sk_live_')
    for (const [name, [value]] of Object.entries(values)) expect(textOf(name)).not.toBe(value)
  })

  requires('curl').test(
    'a header has the value, and the program gets its stand-in back',
    async () => {
      const ran = await runWith(proxy, [
        ...['curl', '-sSi', '-H', `Authorization: Bearer ${textOf('KEY')}`],
        stage.url('/echo'),
      ])
      expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: '' })
      expect(last()?.header('authorization')).toBe(`Bearer ${KEY}`)
      expect(ran.out).toContain(`\r\nx-echo: Bearer ${textOf('KEY')}\r\n`)
      expect(ran.out).toEndWith(`\r\n\r\ngot Bearer ${textOf('KEY')}`)
    },
  )

  test('Basic credentials have the stand-in, as user and as password', async () => {
    const { KEY: user = '', PASSWORD: password = '' } = standIns
    await send('/echo', { headers: { authorization: `Basic ${btoa(`${user}:${password}`)}` } })
    const [stored = ''] = values.PASSWORD ?? []
    expect(last()?.header('authorization')).toBe(`Basic ${btoa(`${KEY}:${stored}`)}`)
  })

  test('Basic credentials are form-encoded if the policy allows it, and an echo has the sent form', async () => {
    for (const written of [textOf('OAUTH'), encodeURIComponent(textOf('OAUTH'))]) {
      const authorization = `Basic ${btoa(`client:${written}`)}`
      const answer = await send('/echo', { headers: { authorization } })
      const [stored = ''] = values.OAUTH ?? []
      const encoded = encodeURIComponent(stored)
      expect(last()?.header('authorization')).toBe(`Basic ${btoa(`client:${encoded}`)}`)
      expect(answer.headers.get('x-echo')).toBe(authorization)
      expect(await answer.text()).toBe(`got ${authorization}`)
    }
  })

  test('a part that a client extracts from a URL becomes that part of the value, and is returned as the part', async () => {
    const { username, password } = new URL(textOf('REPOSITORY'))
    const basic = (login: string) => ({ authorization: `Basic ${btoa(login)}` })
    const answer = await send('/echo', { headers: basic(`${username}:${password}`) })
    expect(last()?.header('authorization')).toBe(`Basic ${btoa(`ada:${PASSWORD}`)}`)
    expect(await answer.text()).toBe(`got Basic ${btoa(`${username}:${password}`)}`)
    const dsn = new URL(textOf('DSN')).username
    const other = await send('/echo', { headers: { authorization: `Sentry key=${dsn}` } })
    expect(last()?.header('authorization')).toBe(`Sentry key=${USER}`)
    expect(await other.text()).toBe(`got Sentry key=${dsn}`)
    // By name, as any placeholder.
    await send('/echo', { headers: basic('ada:SVC_SECRET_REPOSITORY__PASSWORD') })
    expect(last()?.header('authorization')).toBe(`Basic ${btoa(`ada:${PASSWORD}`)}`)
    const sent = upstream.bytes
    const none = await send('/', { headers: { 'x-key': 'SVC_SECRET_KEY__PASSWORD' } })
    expect(await none.json()).toMatchObject({ error_code: 'unusable_secret' })
    const unknown = await send('/', { headers: { 'x-key': 'SVC_SECRET_NONE__PASSWORD' } })
    expect(await unknown.json()).toMatchObject({ error_code: 'unknown_secret' })
    expect(upstream.bytes).toBe(sent)
  })

  test('a placeholder still becomes the value, and is returned as the placeholder', async () => {
    const answer = await send('/echo', { headers: { authorization: 'Bearer SVC_SECRET_KEY' } })
    expect(last()?.header('authorization')).toBe(`Bearer ${KEY}`)
    expect(await answer.text()).toBe('got Bearer SVC_SECRET_KEY')
  })

  test('a text that the upstream itself calls a placeholder is left unchanged', async () => {
    upstream.on('/manual', answerOf(200, {}, 'write SVC_SECRET_KEY where the key goes'))
    const answer = await send('/manual', { headers: bearer('KEY') })
    expect(await answer.text()).toBe('write SVC_SECRET_KEY where the key goes')
  })

  test('query, path, JSON and form have the value if the policy allows it', async () => {
    const encoded = (name: string) => encodeURIComponent(textOf(name))
    const stored = (name: string) => values[name]?.[0] ?? ''
    await send(`/q?a=${encoded('IN_QUERY')}&b=${encoded('KEY')}`)
    expect(last()?.path).toBe(`/q?a=${encodeURIComponent(stored('IN_QUERY'))}&b=${encoded('KEY')}`)
    await send(`/bot${textOf('IN_PATH')}/send/${encoded('KEY')}`)
    expect(last()?.path).toBe(`/bot${encodeURIComponent(stored('IN_PATH'))}/send/${encoded('KEY')}`)
    await send('/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ a: textOf('IN_JSON'), b: textOf('KEY') }),
    })
    expect(JSON.parse(lastBody())).toEqual({ a: PEM, b: textOf('KEY') })
    const nested = (text: string) =>
      JSON.stringify({
        deep: JSON.stringify({ form: `a=1&pem=${encodeURIComponent(text)}`, text }),
      })
    await send('/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: nested(textOf('IN_JSON')),
    })
    expect(JSON.parse(JSON.parse(lastBody()).deep)).toEqual(
      JSON.parse(JSON.parse(nested(PEM)).deep),
    )
    await send('/', {
      method: 'POST',
      body: new URLSearchParams({ a: textOf('IN_FORM'), b: textOf('KEY') }),
    })
    expect(Object.fromEntries(new URLSearchParams(lastBody()))).toEqual({
      a: stored('IN_FORM'),
      b: textOf('KEY'),
    })
  })

  test.each([
    ['policy_blocked', { method: 'POST', headers: () => bearer('GET_ONLY') }],
    ['policy_blocked', { method: 'GET', headers: () => bearer('IN_QUERY') }],
  ] as [FaultCode, { method: string; headers: () => Record<string, string> }][])(
    'a stand-in is rejected like its placeholder: %s',
    async (code, { method, headers }) => {
      const sent = upstream.bytes
      const answer = await send('/', { method, headers: headers() })
      expect(answer.status).toBe(statusOf(code))
      expect(await answer.json()).toMatchObject({ error_code: code })
      expect(upstream.bytes).toBe(sent)
      expect((await send('/', { headers: bearer('GET_ONLY') })).status).toBe(200)
    },
  )

  test('a value that the call did not use is returned as its stand-in, and JSON stays JSON', async () => {
    const body = JSON.stringify({ key: KEY, pem: PEM, list: [{ deep: PEM }] })
    upstream.on('/config', answerOf(200, { 'content-type': 'application/json' }, body))
    // White space at the ends of a value does not count.
    const pem = `${textOf('IN_JSON')}\n`
    const shown = await (await send('/config')).json()
    expect(shown).toEqual({ key: textOf('KEY'), pem, list: [{ deep: pem }] })
  })

  test('an answer that arrives byte by byte is the same', async () => {
    upstream.on('/slow', async (_, wire) => {
      wire.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      const body = chunked([...`a ${KEY} b ~ c ${encodeURIComponent(KEY)} ~~`])
      for (let from = 0; from < body.length; from += 7) {
        wire.write(body.subarray(from, from + 7))
        await settle()
      }
    })
    expect(await (await send('/slow')).text()).toBe(`a ${textOf('KEY')} b ~ c ${textOf('KEY')} ~~`)
  })

  test('an event arrives before the next one is sent', async () => {
    const goOn = Promise.withResolvers<void>()
    upstream.on('/events', async (_, wire) => {
      const headers = 'Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n'
      wire.write(`HTTP/1.1 200 OK\r\n${headers}\r\n`)
      wire.write(chunked([`data: ${KEY}\n\n`]).subarray(0, -5))
      await goOn.promise
      wire.write(chunked([`data: ${JSON.stringify({ pem: PEM })}\n\n`]))
    })
    const reader = (await send('/events')).body?.getReader()
    const read = async () => Buffer.from((await reader?.read())?.value ?? []).toString()
    expect(await read()).toBe(`data: ${textOf('KEY')}\n\n`)
    goOn.resolve()
    const [, json = ''] = /^data: (.*)\n\n$/.exec(await read()) ?? []
    expect(JSON.parse(json).pem).toBe(`${textOf('IN_JSON')}\n`)
  })

  test('a program that disconnects ends the call upstream', async () => {
    const gone = Promise.withResolvers<void>()
    upstream.on('/endless', (_, wire) => {
      wire.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      wire.write(chunked(['words of it '.repeat(1000)]).subarray(0, -5))
      wire.once('close', () => gone.resolve())
    })
    const controller = new AbortController()
    const answer = await send('/endless', { signal: controller.signal })
    await answer.body?.getReader().read()
    controller.abort()
    await gone.promise
  })

  test('a WebSocket has the value in its handshake, and stand-ins in its messages', async () => {
    upstream.on(
      '/socket',
      accepting(
        async ({ request, wire, next }) => {
          wire.write(frame(1, `welcome, ${request.header('authorization')}`))
          wire.write(frame(2, Buffer.from(`bytes of ${KEY} \xff`, 'latin1')))
          await next()
          wire.end(closing(4001, 'enough'))
        },
        () => '',
      ),
    )
    const url = `${proxy.baseUrl.replace('http', 'ws')}/${stage.authorityOf()}/socket`
    const socket = new WebSocket(url, { headers: bearer('KEY') } as never)
    socket.binaryType = 'arraybuffer'
    const messages: string[] = []
    const ended = Promise.withResolvers<number>()
    socket.onmessage = ({ data }) => {
      messages.push(typeof data === 'string' ? data : Buffer.from(data).toString('latin1'))
      if (messages.length === 2) socket.close(1000)
    }
    socket.onclose = ({ code }) => ended.resolve(code)
    await ended.promise
    expect(messages).toEqual([`welcome, Bearer ${textOf('KEY')}`, `bytes of ${textOf('KEY')} \xff`])
  })

  test('a WebSocket message has the value if the policy allows it, and its echo the stand-in', async () => {
    const received: string[] = []
    upstream.on(
      '/messages',
      accepting(async ({ wire, next }) => {
        for (let message = await next(); message.opcode === 1; message = await next()) {
          received.push(message.payload.toString())
          wire.write(frame(1, message.payload))
        }
        wire.end(closing(1000))
      }),
    )
    const url = `${proxy.baseUrl.replace('http', 'ws')}/${stage.authorityOf()}/messages`
    const socket = new WebSocket(url)
    const sent = ['IN_MESSAGE', 'KEY'].map((name) => JSON.stringify({ token: textOf(name) }))
    const messages: string[] = []
    const ended = Promise.withResolvers<void>()
    socket.onopen = () => sent.forEach((text) => void socket.send(text))
    socket.onmessage = ({ data }) => {
      messages.push(String(data))
      if (messages.length === sent.length) socket.close(1000)
    }
    socket.onclose = () => ended.resolve()
    await ended.promise
    const [value] = values.IN_MESSAGE ?? []
    expect(received).toEqual([JSON.stringify({ token: value }), sent[1] ?? ''])
    expect(messages).toEqual(sent)
  })

  test('a message that is nested too deeply is not sent, and the proxy continues', async () => {
    const received: string[] = []
    upstream.on(
      '/deep',
      accepting(async ({ wire, next }) => {
        for (let message = await next(); message.opcode === 1; message = await next())
          received.push(message.payload.toString())
        wire.end(closing(1000))
      }),
    )
    const url = `${proxy.baseUrl.replace('http', 'ws')}/${stage.authorityOf()}/deep`
    const socket = new WebSocket(url)
    let deep = textOf('IN_MESSAGE')
    for (let level = 0; level < 10; level += 1) deep = JSON.stringify({ deep })
    const ended = Promise.withResolvers<unknown>()
    socket.onopen = () => ['before', deep, 'after'].forEach((text) => void socket.send(text))
    socket.onclose = ({ code, reason }) => ended.resolve({ code, reason })
    expect(await ended.promise).toEqual({ code: 1008, reason: 'unusable_secret' })
    const answer = await send('/echo', { headers: bearer('KEY') })
    expect(answer.status).toBe(200)
    expect(received).toEqual(['before'])
  })

  test('a stand-in of another run is text, and opens nothing', async () => {
    const [other] = Object.values(proxies).filter((one) => one !== proxy)
    await send('/echo', { headers: { authorization: `Bearer ${other?.standIns.KEY}` } })
    expect(last()?.header('authorization')).toBe(`Bearer ${other?.standIns.KEY}`)
    const direct = await fetch(`${stage.app.resolver}/v1/resolve`, {
      method: 'POST',
      headers: { authorization: `Bearer ${textOf('KEY')}` },
    })
    expect(direct.status).toBe(401)
  })

  test('many concurrent calls do not mix', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const name = at % 2 === 0 ? 'KEY' : 'PASSWORD'
        const answer = await send('/echo', { headers: bearer(name) })
        return [await answer.text(), `got Bearer ${textOf(name)}`]
      }),
    )
    for (const [got, wanted] of answers) expect(got).toBe(wanted ?? '')
  })

  requires('curl').test('a program that writes down what it got can go on with it', async () => {
    const file = join(stage.directory, 'config')
    const write = await runWith(proxy, ['curl', '-sS', '-o', file, stage.url('/config')])
    expect(write.code).toBe(0)
    const { key } = await Bun.file(file).json()
    await send('/echo', { headers: { authorization: `Bearer ${key}` } })
    expect(last()?.header('authorization')).toBe(`Bearer ${KEY}`)
  })
})
