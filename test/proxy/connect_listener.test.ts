// tier: quick
/** Users of the proxy, and requests that are not for hosts on the allowlist. */
import { afterAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { adviceFor } from '../../src/http/advice.ts'
import { API } from '../support/agent.ts'
import { sendRaw } from '../support/raw_http.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'
import { watched } from '../support/watched.ts'
import { KEY, type OpenProxy, OTHER, openProxyStage, runWith } from './stage.ts'

const stage = await openProxyStage()
afterAll(stage.stop)
const open = await stage.open('local')
const strict = await stage.open('local', { strict: true })

const plain = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ headers }) => Response.json(Object.fromEntries(headers)),
})
afterAll(() => plain.stop(true))

function passwordOf({ url }: OpenProxy): string {
  return new URL(url).password
}

function loginOf(proxy: OpenProxy, password = passwordOf(proxy)): string {
  return `Proxy-Authorization: Basic ${btoa(`cloakroom:${password}`)}`
}

function connectRequest(target: string, ...headers: string[]): string {
  return [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`, ...headers, '', ''].join('\r\n')
}

/** A tunnel, once the proxy confirms it. */
async function tunnel(proxy: OpenProxy, target: string): Promise<Socket> {
  const socket = connectTcp(proxy.port, '127.0.0.1')
  socket.write(connectRequest(target, loginOf(proxy)))
  const answer = await new Promise<Buffer>((resolve) => socket.once('data', resolve))
  expect(answer.toString()).toBe('HTTP/1.1 200 Connection Established\r\n\r\n')
  return socket
}

/** TLS in a tunnel to any server, and its identity. */
async function secure(socket: Socket, servername: string, ca: string) {
  const wire = connectTls({ socket, servername, ca })
  await new Promise((resolve, reject) => wire.once('secureConnect', resolve).once('error', reject))
  return { wire, issuer: wire.getPeerCertificate().issuer.CN }
}

describe('a client without the password of this run', () => {
  const wrong = [
    ['no password', []],
    ['a wrong password', [loginOf(open, 'x'.repeat(32))]],
    ['an empty password', [loginOf(open, '')]],
    ['the password of another run', [loginOf(open, passwordOf(strict))]],
    ['another scheme', [`Proxy-Authorization: Bearer ${passwordOf(open)}`]],
  ] as const

  test.each(wrong)('CONNECT with %s is 407, and no connection is made', async (_, headers) => {
    const sent = stage.upstream.bytes
    const answer = await sendRaw(open.baseUrl, connectRequest(stage.authorityOf(), ...headers))
    expect(answer.statuses).toEqual([407])
    expect(answer.text).toContain('Proxy-Authenticate: Basic realm="cloakroom"\r\n')
    expect(stage.upstream.bytes).toBe(sent)
  })

  test.each(wrong)('plain http with %s is 407', async (_, headers) => {
    const request = [
      `GET ${plain.url.href} HTTP/1.1`,
      `Host: ${plain.url.host}`,
      ...headers,
      '',
      '',
    ]
    const answer = await sendRaw(open.baseUrl, request.join('\r\n'))
    expect(answer.statuses).toEqual([407])
    expect(answer.text).toContain('the proxy password is missing or wrong')
  })

  test.each(['', 'x'.repeat(32), passwordOf(strict)])(
    'base-URL mode with %p is 403',
    async (password) => {
      const sent = stage.upstream.bytes
      const url = `http://127.0.0.1:${open.port}/${password}/${stage.authorityOf()}/echo`
      const answer = await fetch(url, { headers: { authorization: 'Bearer SVC_SECRET_KEY' } })
      expect({ status: answer.status, text: await answer.text() }).toEqual({
        status: 403,
        text: 'the password in the path is missing or wrong\n',
      })
      expect(stage.upstream.bytes).toBe(sent)
    },
  )

  test('no other address of this machine answers', async () => {
    const socket = connectTcp(open.port, '127.0.0.2')
    const code = await new Promise((resolve) => {
      socket.once('error', (error) => resolve('code' in error ? error.code : error))
      socket.once('connect', () => resolve('connected'))
    })
    expect(code).toBe('ECONNREFUSED')
  })
})

/** A program of this test with a connection to the proxy: its port, and the status it gets without a password. */
function connected(address: string) {
  const script = `
    const socket = require('node:net').connect(${open.port}, '${address}')
    socket.once('connect', () => console.log(socket.localPort))
    socket.once('data', (data) => console.log(String(data).split('\\r\\n')[0]) ?? process.exit())
    process.stdin.once('data', (data) => socket.write(data))`
  const program = watched(Bun.spawn(['bun', '-e', script], { stdin: 'pipe', stdout: 'pipe' }))
  const reader = program.stdout.getReader()
  const line = async () => String(Buffer.from((await reader.read()).value ?? [])).trim()
  const ask = () => {
    program.stdin.write(connectRequest(stage.authorityOf()))
    program.stdin.flush()
    return line()
  }
  return { port: line().then(Number), ask }
}

describe.if(process.platform === 'linux')("the run's own program needs no password", () => {
  test.each([
    ['IPv4', '127.0.0.1'],
    ['IPv4 by a socket of IPv6', '::ffff:127.0.0.1'],
  ])(
    'the program needs no password over %s, and at another loopback address it does',
    async (_, address) => {
      const ours = connected(address)
      const localPort = await ours.port
      const near = { localAddress: '127.0.0.2', localPort }
      const socket = connectTcp({ host: '127.0.0.1', port: open.port, ...near })
      socket.write(connectRequest(stage.authorityOf()))
      const [answer] = await once(socket, 'data')
      socket.destroy()
      expect(String(answer)).toStartWith('HTTP/1.1 407 ')
      expect(await ours.ask()).toBe('HTTP/1.1 200 Connection Established')
    },
  )
})

describe('a host that is not on the allowlist', () => {
  const elsewhere = () => `localhost:${stage.upstream.port}`

  test('a host that is not allowed is tunnelled unread: the certificate is its own, and no name is replaced', async () => {
    const socket = await tunnel(open, elsewhere())
    const { wire, issuer } = await secure(socket, OTHER, stage.authority.certificate)
    expect(issuer).toBe('Test authority')
    const asked = stage.upstream.received.length
    wire.write(`GET /x HTTP/1.1\r\nHost: ${OTHER}\r\nAuthorization: Bearer SVC_SECRET_KEY\r\n\r\n`)
    const answer = await new Promise<Buffer>((resolve) => wire.once('data', resolve))
    expect(answer.toString()).toContain('{"ok":true}')
    expect(stage.upstream.received[asked]?.headers).toEqual([
      ['Host', OTHER],
      ['Authorization', 'Bearer SVC_SECRET_KEY'],
    ])
    wire.destroy()
  })

  test('a host that is not allowed is rejected with --strict, and recorded', async () => {
    const sent = stage.upstream.bytes
    const answer = await sendRaw(strict.baseUrl, connectRequest(elsewhere(), loginOf(strict)))
    expect(answer.statuses).toEqual([403])
    expect(answer.text).toContain(`${elsewhere()} is not on the allowlist (domain_blocked)`)
    expect(stage.upstream.bytes).toBe(sent)
    const record = await recordFor('localhost')
    expect(record).toMatchObject({
      method: 'CONNECT',
      decision: 'blocked',
      reason: 'domain_blocked',
      status_code: 403,
      credential_ref: null,
    })
  })

  test.each([
    ['another port', `${API}:1`],
    ['a sibling', `x${API}:443`],
    ['an address', '127.0.0.1:443'],
  ])(
    'a host that is not allowed is rejected with --strict for %s of an allowed one',
    async (_, target) => {
      const answer = await sendRaw(strict.baseUrl, connectRequest(target, loginOf(strict)))
      expect(answer.statuses).toEqual([403])
    },
  )

  test('a host that is not allowed is 403 domain_blocked in base-URL mode', async () => {
    const answer = await fetch(`${open.baseUrl}/${elsewhere()}/x`)
    const message = `${elsewhere()} is not on the allowlist of the workspace.`
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status: 403,
      body: {
        error_code: 'domain_blocked',
        message,
        error: { type: expect.any(String), code: 'domain_blocked', message },
        ...adviceFor('domain_blocked', { command: expect.arrayContaining(['allowlist', 'add']) }),
      },
    })
  })
})

describe('a host on the allowlist', () => {
  test.each([
    ['in capitals', API.toUpperCase()],
    ['with a trailing dot', `${API}.`],
  ])('an allowed host is intercepted however it is written: %s', async (_, name) => {
    const socket = await tunnel(open, `${name}:${stage.upstream.port}`)
    const { wire, issuer } = await secure(socket, API, open.certificate)
    expect(issuer).toStartWith('Cloakroom local proxy ')
    wire.destroy()
  })

  test('an allowed host has one certificate for all concurrent connections, the first ones too', async () => {
    const fresh = await stage.open('local')
    const target = `${API}:${stage.upstream.port}`
    const prints = Array.from({ length: 20 }, async () => {
      const { wire } = await secure(await tunnel(fresh, target), API, fresh.certificate)
      const { fingerprint256 } = wire.getPeerCertificate()
      wire.destroy()
      return fingerprint256
    })
    expect(new Set(await Promise.all(prints)).size).toBe(1)
  })

  requires('curl').test(
    'is the only one that its connection reaches: another Host is 421',
    async () => {
      const sent = stage.upstream.bytes
      const ran = await runWith(open, [
        ...['curl', '-sS', '-H', `Host: ${OTHER}`, '-H', 'Authorization: Bearer SVC_SECRET_KEY'],
        stage.url('/echo'),
      ])
      expect(ran.out).toBe('misdirected request\n')
      expect(stage.upstream.bytes).toBe(sent)
    },
  )

  requires('curl').test('does not learn the password of the proxy', async () => {
    await runWith(open, ['curl', '-sS', '-H', `${loginOf(open)}`, stage.url('/echo')])
    const names = stage.upstream.received.at(-1)?.headers.map(([name]) => name.toLowerCase())
    expect(names).toEqual(['accept', 'accept-encoding', 'host', 'user-agent', 'connection'])
  })

  test('an allowed host answers base-URL mode, with links that return through it', async () => {
    const to = `https://${stage.authorityOf()}/next?page=2`
    stage.upstream.on(
      '/old',
      answerOf(302, { location: to, link: `<${to}>; rel="next"`, 'content-location': '/here' }),
    )
    const answer = await fetch(`${open.baseUrl}/${stage.authorityOf()}/old`, {
      headers: { 'x-api-key': 'SVC_SECRET_KEY' },
      redirect: 'manual',
    })
    const base = `${open.baseUrl}/${stage.authorityOf()}`
    expect(answer.status).toBe(302)
    expect(answer.headers.get('location')).toBe(`${base}/next?page=2`)
    expect(answer.headers.get('link')).toBe(`<${base}/next?page=2>; rel="next"`)
    expect(answer.headers.get('content-location')).toBe(`${base}/here`)
    expect(stage.upstream.received.at(-1)?.header('x-api-key')).toBe(KEY)
  })

  requires('curl').test(
    'a redirect keeps the address of the upstream, behind HTTPS_PROXY',
    async () => {
      stage.upstream.on('/redirected', answerOf(302, { location: 'https://elsewhere.example/x' }))
      const ran = await runWith(open, ['curl', '-sSi', stage.url('/redirected')])
      expect(ran.out).toContain('\r\nLocation: https://elsewhere.example/x\r\n')
    },
  )
})

describe('plain http', () => {
  const { test } = requires('curl')
  const send = (proxy: OpenProxy) =>
    runWith(proxy, ['curl', '-sS', '-H', 'Authorization: Bearer SVC_SECRET_KEY', plain.url.href], {
      http_proxy: proxy.url,
    })

  test('plain http passes with the names in it, without the password', async () => {
    const { out } = await send(open)
    expect(JSON.parse(out)).toMatchObject({ authorization: 'Bearer SVC_SECRET_KEY' })
    expect(Object.keys(JSON.parse(out))).not.toContain('proxy-authorization')
  })

  test('plain http does not pass with --strict', async () => {
    expect((await send(strict)).out).toBe('a strict proxy does not allow plain http\n')
  })
})

describe('https without CONNECT, by an absolute target', () => {
  const ask = (proxy: OpenProxy, authority: string, ...headers: string[]) => {
    const head = [`GET https://${authority}/echo?a=b HTTP/1.1`, `Host: ${authority}`, ...headers]
    return sendRaw(proxy.baseUrl, `${head.join('\r\n')}\r\n\r\n`)
  }
  const bearer = 'Authorization: Bearer SVC_SECRET_KEY'

  test('an absolute https target is served for an allowed host, with the value outside only, one request a connection', async () => {
    const answer = await ask(open, stage.authorityOf(), loginOf(open), bearer)
    expect(answer).toMatchObject({ statuses: [200], closed: true })
    expect(answer.text).toContain('\r\nConnection: close\r\n')
    const sent = stage.upstream.received.at(-1)
    expect(sent).toMatchObject({ path: '/echo?a=b' })
    expect(sent?.header('authorization')).toBe(`Bearer ${KEY}`)
    expect(sent?.header('proxy-authorization')).toBeUndefined()
  })

  test('an absolute https target needs the password of this run', async () => {
    const sent = stage.upstream.bytes
    for (const headers of [[], [loginOf(open, 'x'.repeat(32))]]) {
      expect((await ask(open, stage.authorityOf(), ...headers)).statuses).toEqual([407])
    }
    expect(stage.upstream.bytes).toBe(sent)
  })

  test('an absolute https target is rejected for any other host, whose traffic cannot pass unread, with and without --strict', async () => {
    const sent = stage.upstream.bytes
    for (const proxy of [open, strict]) {
      const answer = await ask(proxy, `elsewhere.example:${stage.upstream.port}`, loginOf(proxy))
      expect(answer.statuses).toEqual([403])
      expect(answer.text).toContain('is not on the allowlist (domain_blocked)')
    }
    expect(stage.upstream.bytes).toBe(sent)
    expect(await recordFor('elsewhere.example')).toMatchObject({
      method: 'GET',
      reason: 'domain_blocked',
    })
  })

  test('an absolute https target may have its scheme in any case', async () => {
    for (const [authority, status] of [
      [stage.authorityOf(), 200],
      ['capitals.example', 403],
    ] as const) {
      const head = `GET HTTPS://${authority}/echo HTTP/1.1\r\nHost: ${authority}\r\n${loginOf(open)}`
      const answer = await sendRaw(open.baseUrl, `${head}\r\n${bearer}\r\n\r\n`)
      expect(answer.statuses).toEqual([status])
    }
    expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${KEY}`)
    expect(await recordFor('capitals.example')).toMatchObject({ method: 'GET' })
  })

  test('an absolute https target reaches its own host only: another Host is 421', async () => {
    const sent = stage.upstream.bytes
    const head = `GET https://${stage.authorityOf()}/ HTTP/1.1\r\nHost: ${OTHER}\r\n${loginOf(open)}`
    const answer = await sendRaw(open.baseUrl, `${head}\r\n\r\n`)
    expect(answer.statuses).toEqual([421])
    expect(stage.upstream.bytes).toBe(sent)
  })

  test('an absolute https target is served behind plain http of the same program', async () => {
    const first = [`GET ${plain.url.href} HTTP/1.1`, `Host: ${plain.url.host}`, loginOf(open)]
    const answer = await sendRaw(open.baseUrl, `${first.join('\r\n')}\r\n\r\n`)
    expect(answer).toMatchObject({ statuses: [200], closed: true })
  })

  test.each(['https://', 'https://me@example.com/', 'https://example.com:0/', 'https://a b/'])(
    'an absolute https target is 400 for %p',
    async (target) => {
      const request = `GET ${target} HTTP/1.1\r\n${loginOf(open)}\r\n\r\n`
      expect((await sendRaw(open.baseUrl, request)).statuses).toEqual([400])
    },
  )

  test('an absolute https target carries a body of any size, also if it is rejected', async () => {
    const body = 'x'.repeat(300_000)
    for (const [authority, status] of [
      [stage.authorityOf(), 200],
      ['elsewhere.example', 403],
    ] as const) {
      const head = `POST https://${authority}/sink HTTP/1.1\r\nHost: ${authority}\r\n${loginOf(open)}\r\nContent-Length: ${body.length}`
      const answer = await sendRaw(open.baseUrl, `${head}\r\n\r\n${body}`)
      expect(answer.statuses).toEqual([status])
    }
    expect(stage.upstream.received.at(-1)?.body.length).toBe(body.length)
  })
})

describe('the listener', () => {
  test.each([
    'CONNECT  HTTP/1.1',
    'CONNECT example.com HTTP/1.1',
    'CONNECT example.com:0 HTTP/1.1',
    'CONNECT example.com:65536 HTTP/1.1',
    'CONNECT user@example.com:443 HTTP/1.1',
    'CONNECT example.com:443/ HTTP/1.1',
    'CONNECT example.com:443 HTTP/2.0',
  ])('the listener answers 400 to %p', async (line) => {
    const answer = await sendRaw(open.baseUrl, `${line}\r\n${loginOf(open)}\r\n\r\n`)
    expect(answer.statuses).toEqual([400])
  })

  test('the listener accepts a request in any number of pieces', async () => {
    const request = connectRequest(stage.authorityOf(), loginOf(open))
    const pieces = [request.slice(0, 3), request.slice(3, 20), request.slice(20)]
    expect((await sendRaw(open.baseUrl, pieces)).statuses).toEqual([200])
  })

  test('the listener closes the connection of an endless header section', async () => {
    const head = `CONNECT ${stage.authorityOf()} HTTP/1.1\r\nX: ${'x'.repeat(70_000)}`
    const answer = await sendRaw(open.baseUrl, head, { timeoutMs: 5_000 })
    expect(answer).toEqual({ text: '', statuses: [], closed: true })
  })
})

/** The newest record for a host, once the audit was synchronised. */
function recordFor(domain: string) {
  const look = async () =>
    (await stage.records('client')).findLast((each) => each.target_domain === domain)
  return until(look, { stepMs: 50 })
}
