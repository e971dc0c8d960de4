// tier: quick
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { ECHO_HOST, type Shown, startEchoApi } from '../../src/cli/demo/echo_api.ts'
import { marked } from '../support/canary.ts'
import { openTerminal, type Terminal } from './person.ts'

const KEY = marked('sk_live_echo')

let person: Terminal

beforeAll(async () => {
  person = await openTerminal({
    controlPlane: 'http://127.0.0.1:1',
    resolver: 'http://127.0.0.1:1',
  })
})
afterAll(() => person.remove())

async function opened() {
  const authority = await createAuthority('Echo of the test')
  const shown: Shown[] = []
  const api = await startEchoApi(authority, {
    port: 0,
    show: (request) => void shown.push(request),
  })
  const tls = { ca: authority.certificate, serverName: ECHO_HOST }
  return { api, shown, tls, url: `https://127.0.0.1:${api.port}` }
}

test('the echo API returns the request, with fingerprints instead of credentials', async () => {
  const { api, shown, tls, url } = await opened()
  const answer = await fetch(`${url}/v1/charges?key=${KEY}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'x-api-key': KEY, 'content-type': 'text/plain' },
    body: 'twelve',
    tls,
  })
  expect(await answer.json()).toMatchObject({
    method: 'POST',
    path: `/v1/charges?key=${KEY}`,
    headers: { authorization: `Bearer ${KEY}`, 'x-api-key': KEY },
    body: 'twelve',
  })
  const fingerprint = createHash('sha256').update(KEY).digest('hex').slice(0, 8)
  const masked = `******** (${KEY.length} characters, SHA-256 ${fingerprint}…)`
  expect(shown).toEqual([
    {
      method: 'POST',
      path: '/v1/charges?…',
      headers: expect.objectContaining({
        authorization: `Bearer ${masked}`,
        'x-api-key': masked,
        'content-type': 'text/plain',
      }),
      bytes: 6,
    },
  ])
  expect(JSON.stringify(shown)).not.toContain(KEY)
  await api.stop()
})

test('the echo API accepts only TLS 1.3', async () => {
  const { api, tls } = await opened()
  const handshake = (maxVersion: 'TLSv1.2' | 'TLSv1.3') =>
    new Promise((resolve) => {
      const { ca, serverName: servername } = tls
      const socket = connect({ port: api.port, host: '127.0.0.1', ca, servername, maxVersion })
      const end = (result: unknown) => {
        socket.destroy()
        resolve(result)
      }
      socket.on('secureConnect', () => end(socket.getProtocol()))
      socket.on('error', () => end('refused'))
    })
  expect([await handshake('TLSv1.2'), await handshake('TLSv1.3')]).toEqual(['refused', 'TLSv1.3'])
  await api.stop()
})

test("a command after echo has a resolver's settings while it runs", async () => {
  const script =
    'echo "$RESOLVER_HOSTS $RESOLVER_ALLOW_NETWORKS ${SERVICE_TOKEN:-none} $RESOLVER_CA_FILE"; head -1 "$RESOLVER_CA_FILE"; exit 3'
  const { code, out, err } = await person.run(['echo', '--port', '0', '--', 'sh', '-c', script], {
    env: { SERVICE_TOKEN: 'svc_agt_not_for_servers' },
  })
  const [line = '', certificate] = out.split('\n')
  const [hosts, networks, token, file = ''] = line.split(' ')
  expect({ code, hosts, networks, token, certificate }).toEqual({
    code: 3,
    hosts: 'echo.internal=127.0.0.1',
    networks: '127.0.0.1/32',
    token: 'none',
    certificate: '-----BEGIN CERTIFICATE-----',
  })
  expect(err).toMatch(
    /^The echo API listens at https:\/\/echo\.internal:\d+ and prints each request here\.\n$/,
  )
  expect(file).toStartWith(join(person.home, '.config', 'cloakroom'))
  expect(existsSync(file)).toBe(false)
})

/** A program behind `--` that calls the API; the name of the certificate's file ends in the port. */
const CALL = `
  const { RESOLVER_CA_FILE: file, LOG_LEVEL } = process.env
  const port = /-(\\d+)\\.pem$/.exec(file)[1]
  const tls = { ca: await Bun.file(file).text(), serverName: 'echo.internal' }
  const headers = { authorization: 'Bearer abc', 'x-note': 'a', host: 'echo.internal' }
  await fetch('https://127.0.0.1:' + port + '/v1', { tls, headers })
  console.error('LOG_LEVEL=' + LOG_LEVEL)`
const calling = (...options: string[]) => [
  ...['echo', '--port', '0', ...options],
  ...['--', process.execPath, '-e', CALL],
]

test('each request is printed as lines, one for each header, or as one line of JSON', async () => {
  const { code, out } = await person.run(calling())
  const [first, ...headers] = out.trimEnd().split('\n')
  expect({ code, first }).toEqual({ code: 0, first: 'GET /v1 (0 bytes)' })
  expect(headers).toContain('  authorization    Bearer ******** (3 characters, SHA-256 ba7816bf…)')
  for (const header of headers) expect(header).toMatch(/^ {2}[a-z-]+ +\S/)
  const json = await person.run(calling('--json'))
  const lines = json.out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toEqual([
    expect.objectContaining({ allow: expect.stringMatching(/^echo\.internal:\d+$/) }),
    expect.objectContaining({ method: 'GET', path: '/v1', bytes: 0 }),
  ])
})

test('a server after echo logs only warnings, unless LOG_LEVEL is set', async () => {
  expect((await person.run(calling())).err).toContain('LOG_LEVEL=warning\n')
  const { err } = await person.run(calling(), { env: { LOG_LEVEL: 'info' } })
  expect(err).toContain('LOG_LEVEL=info\n')
})

test('echo does not replace a setting of the server, and names a port in use', async () => {
  const set = await person.run(['echo', '--port', '0'], {
    env: { RESOLVER_CA_FILE: '/etc/ca.pem' },
  })
  expect(set).toEqual({
    code: 2,
    out: '',
    err: expect.stringContaining('RESOLVER_CA_FILE is set, and echo would replace it'),
  })
  const { api } = await opened()
  const taken = await person.run(['echo', '--port', String(api.port)])
  expect(taken).toEqual({
    code: 1,
    out: '',
    err: expect.stringContaining(`port ${api.port} is taken`),
  })
  await api.stop()
})
