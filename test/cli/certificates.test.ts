// tier: quick
/** A server behind a certificate: each way in which it may not be trusted, and the authority that a person names. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Authority, createAuthority } from '../../src/cli/demo/certificates.ts'
import { mintToken } from '../../src/core/crypto/token.ts'
import { listDomains } from '../../src/resolver/contract.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { openTerminal, PASSWORD, type Terminal } from './person.ts'

const DAY_MS = 86_400_000
const { text: token } = mintToken('agt')

let app: TestApp
let ada: Terminal
let authority: Authority
const open = new Set<Bun.Server<unknown>>()

beforeAll(async () => {
  app = await sharedApp()
  ada = await openTerminal(app)
  authority = await createAuthority('Our own')
  ada.write('ca.pem', `Ours, since 2026\n${authority.certificate}\n`)
})
afterAll(() => {
  for (const server of open) server.stop(true)
  ada.remove()
})

type Leaf = { cert: string; key: string }

/** The control plane, or the resolver, behind a gateway with that certificate. */
function gateway(leaf: Leaf, target = app.controlPlane) {
  let arrived = 0
  const server = Bun.serve({
    hostname: 'localhost',
    port: 0,
    tls: leaf,
    fetch: async (request) => {
      arrived += 1
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const body = method === 'GET' ? null : await request.arrayBuffer()
      const answer = await fetch(`${target}${pathname}${search}`, { method, headers, body })
      return new Response(answer.body, { status: answer.status, headers: answer.headers })
    },
  })
  open.add(server)
  return { origin: `https://localhost:${server.port}`, arrived: () => arrived }
}

const named = () => authority.issue(['localhost'])
/** Without an authority: the certificate itself is trusted. */
async function signedByItself(): Promise<Leaf> {
  await import('reflect-metadata')
  const { SubjectAlternativeNameExtension, X509CertificateGenerator } = await import(
    '@peculiar/x509'
  )
  const signingAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await crypto.subtle.generateKey(signingAlgorithm, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=localhost',
    keys,
    signingAlgorithm,
    extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }])],
  })
  const encoded = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey))
  const key = `-----BEGIN PRIVATE KEY-----\n${encoded.toString('base64')}\n-----END PRIVATE KEY-----`
  return { cert: certificate.toString('pem'), key }
}
const withAuthority = async () => {
  const { cert, key } = await named()
  return { cert: `${cert}\n${authority.certificate}`, key }
}

const OWN =
  'for a private certificate authority, pass its certificate: --ca-file ca.pem (SERVICE_CA_FILE)'
const OTHER = 'check the address with: cloakroom config; renew the certificate on the server'
const CLOCK = "or this machine's clock is wrong"
const later = (days: number) => new Date(Date.now() + days * DAY_MS)

type Way = [name: string, leaf: () => Promise<Leaf>, args: string[], said: string, hint: string]
const ways: Way[] = [
  [
    'signed by itself',
    signedByItself,
    [],
    'it is signed by itself (DEPTH_ZERO_SELF_SIGNED_CERT)',
    OWN,
  ],
  [
    'of an unknown authority',
    named,
    [],
    'its certificate authority is unknown on this machine (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
    OWN,
  ],
  [
    'of an unknown authority that it brings along',
    withAuthority,
    [],
    'its certificate authority is unknown on this machine (SELF_SIGNED_CERT_IN_CHAIN)',
    OWN,
  ],
  [
    'for another name',
    () => authority.issue(['other.example']),
    ['--ca-file', 'ca.pem'],
    'it is for another name (ERR_TLS_CERT_ALTNAME_INVALID)',
    OTHER,
  ],
  [
    'expired',
    () => authority.issue(['localhost'], { notBefore: later(-3), notAfter: later(-1) }),
    ['--ca-file', 'ca.pem'],
    `it has expired, ${CLOCK} (CERT_HAS_EXPIRED)`,
    OTHER,
  ],
  [
    'not valid yet',
    () => authority.issue(['localhost'], { notBefore: later(1) }),
    ['--ca-file', 'ca.pem'],
    `it is not valid yet, ${CLOCK} (CERT_NOT_YET_VALID)`,
    OTHER,
  ],
]

describe('an untrusted certificate is named, and no request is sent', () => {
  test.each(ways)('%s', async (_, leaf, args, said, hint) => {
    const { origin, arrived } = gateway(await leaf())
    const { host } = new URL(origin)
    const message = `${host} is reachable, but its certificate is not trusted: ${said}`
    expect(await ada.run(['status', '--server', origin, ...args])).toEqual({
      code: 6,
      out: expect.stringMatching(/^health +untrusted_certificate$/m),
      err: `cloakroom: ${message} (untrusted_certificate)\n→ ${hint}\n`,
    })
    const asJson = await ada.run(['status', '--server', origin, ...args, '--json'])
    const error = { code: 'untrusted_certificate', message, hint }
    expect(JSON.parse(asJson.err)).toEqual({ error })
    expect(arrived()).toBe(0)
  })

  test('an untrusted certificate is rejected even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
    // The runtime reads this variable from the environment of its process.
    const { origin, arrived } = gateway(await named())
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
    const { code, err } = await ada.spawn(['status', '--server', origin], { env })
    expect([code, err]).toEqual([6, expect.stringContaining('its certificate is not trusted')])
    expect(arrived()).toBe(0)
  })

  test('a call with a token names an untrusted certificate of the resolver', async () => {
    const { origin, arrived } = gateway(await named(), app.resolver)
    const env = { SERVICE_TOKEN: token, SERVICE_RESOLVER_URL: origin }
    const { code, err } = await ada.run(['call', 'https://api.example.com/'], { env })
    expect([code, err]).toEqual([6, expect.stringContaining('its certificate is not trusted')])
    expect(arrived()).toBe(0)
  })
})

test('a server without TLS and an unreachable server get different errors', async () => {
  const server = app.controlPlane.replace('http:', 'https:')
  const { code, err } = await ada.run(['status', '--server', server])
  expect([code, err]).toEqual([6, expect.stringContaining('does not use TLS')])
  const nobody = await ada.run(['status', '--server', 'https://localhost:1'])
  expect([nobody.code, nobody.err]).toEqual([6, expect.stringContaining('cannot be reached')])
})

test('an http address of a TLS server gets the advice to use https', async () => {
  const server = gateway(await named()).origin.replace('https:', 'http:')
  const { code, err } = await ada.run(['status', '--server', server])
  expect([code, err]).toEqual([6, expect.stringContaining('uses https instead of http')])
})

describe('the authority of --ca-file', () => {
  test('the authority of --ca-file is trusted by commands with a session, in each way of naming it', async () => {
    const { origin } = gateway(await named())
    const env = { SERVICE_SERVER_URL: origin }
    const entrance = [
      'register',
      'ada@certificates.example',
      '--password-stdin',
      '--insecure-storage',
    ]
    const stdin = `${PASSWORD}\n`
    const entered = await ada.run([...entrance, '--ca-file', 'ca.pem'], { env, stdin })
    expect(entered.code).toBe(0)
    for (const more of [
      { SERVICE_CA_FILE: 'ca.pem' },
      { CLOAKROOM_CA_FILE: `${ada.cwd}/ca.pem` },
    ]) {
      const { out } = await ada.run(['whoami'], { env: { ...env, ...more } })
      expect(out).toContain('ada@certificates.example')
    }
    expect((await ada.run(['whoami'], { env })).code).toBe(6)
  })

  test('the authority of --ca-file is trusted by calls with a token', async () => {
    const { origin } = gateway(await named(), app.resolver)
    const env = { SERVICE_TOKEN: token, SERVICE_RESOLVER_URL: origin, SERVICE_CA_FILE: 'ca.pem' }
    const { code, err } = await ada.run(['call', 'https://api.example.com/'], { env })
    // The resolver's own error.
    expect([code, err]).toEqual([3, expect.stringContaining('token rejected')])
  })

  test('the authority of --ca-file is trusted by the proxy, for requests and WebSockets', async () => {
    const resolver = Bun.serve({
      hostname: 'localhost',
      port: 0,
      tls: await named(),
      fetch: (request, server) => {
        if (server.upgrade(request)) return undefined
        return request.url.endsWith(listDomains.path)
          ? Response.json({ domains: ['api.example.com'] })
          : new Response('through')
      },
      websocket: { open: (socket) => void socket.send('a message'), message: () => {} },
    })
    open.add(resolver)
    ada.write(
      'program.ts',
      `const base = process.env.SERVICE_PROXY_BASE_URL + '/api.example.com/socket'
       console.log(await (await fetch(base)).text())
       const socket = new WebSocket(base.replace('http', 'ws'))
       socket.onmessage = ({ data }) => { console.log(data); socket.close() }
       socket.onerror = () => console.log('no socket')`,
    )
    const env = {
      SERVICE_TOKEN: token,
      SERVICE_RESOLVER_URL: `https://localhost:${resolver.port}`,
    }
    const program = ['proxy', '--stand-ins', 'none', '--', process.execPath, 'program.ts']
    const trusted = await ada.run(['--ca-file', 'ca.pem', ...program], { env })
    expect(trusted).toEqual({ code: 0, out: 'through\na message\n', err: '' })
    const untrusted = await ada.run(program, { env })
    expect(untrusted.out).toContain('no socket')
  })

  test('a --ca-file with several authorities is trusted, in addition to the default ones', async () => {
    const another = await createAuthority('Another')
    ada.write('several.pem', `${another.certificate}\n${authority.certificate}`)
    const { origin } = gateway(await named())
    const other = gateway(await another.issue(['localhost']))
    const args = ['status', '--ca-file', 'several.pem']
    expect((await ada.run([...args, '--server', origin])).code).toBe(0)
    const env = { NODE_EXTRA_CA_CERTS: `${ada.cwd}/several.pem` }
    const beside = ['status', '--ca-file', 'ca.pem', '--server', other.origin]
    // The runtime reads this variable from the environment of its process.
    expect((await ada.spawn(beside, { env })).code).toBe(0)
    expect((await ada.run(beside)).code).toBe(6)
  })
})

test.each([
  ['is not there', 'missing.pem', 'missing.pem does not exist'],
  ['is not a PEM', 'text.pem', 'text.pem is not a PEM file of certificates'],
  ['is damaged', 'damaged.pem', 'damaged.pem is not a PEM file of certificates'],
])('a file that %s is rejected before any request is sent', async (_, file, said) => {
  ada.write('text.pem', 'no certificate\n')
  const damaged = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
  ada.write('damaged.pem', `${authority.certificate}\n${damaged}`)
  const { code, err } = await ada.run(['status', '--ca-file', file])
  expect([code, err]).toEqual([2, expect.stringContaining(said)])
})
