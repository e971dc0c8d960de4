// tier: quick
/** The printed command to try succeeds: curl runs it, in each kind of installation. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { hostCheck } from '../../src/core/net/host.ts'
import { formatReadyText } from '../../src/server/ready_text.ts'
import { requires } from '../support/requires.ts'
import { watched } from '../support/watched.ts'

/** Returns 200 for requests that would be admitted. */
let allowed: string[] = []
const servers: Bun.Server<undefined>[] = []
let [all, loopback, sixth] = ['', '', '']

beforeAll(() => {
  const open = (hostname: string) => {
    const server = Bun.serve({ hostname, port: 0, fetch: answer })
    servers.push(server)
    return server.url.origin
  }
  all = open('0.0.0.0')
  loopback = open('127.0.0.1')
  sixth = open('::1')
})
afterAll(async () => {
  for (const server of servers) await server.stop(true)
})

function answer(request: Request): Response {
  const { pathname } = new URL(request.url)
  try {
    hostCheck(allowed)(request.headers.get('host'))
  } catch {
    return new Response(pathname, { status: 400 })
  }
  return new Response(pathname)
}

function tryLine(origins: { controlPlane: string | null; resolver: string | null }): string {
  const config = { ALLOWED_HOSTS: allowed, SERVICE_SERVER_URL: undefined }
  const text = formatReadyText({
    ...origins,
    admin: [],
    config,
    location: 'there',
    consoleHash: 'abc',
  })
  return /^Try: {2}(.*)$/m.exec(text)?.[1] ?? ''
}

/** The address of the console, in the same set-ups. */
test.each<[string[], string | undefined, () => string, (port: string) => string]>([
  [['localhost', '127.0.0.1'], undefined, () => all, (port) => `http://127.0.0.1:${port}/console/`],
  [['localhost'], undefined, () => all, (port) => `http://localhost:${port}/console/`],
  [['[::1]'], undefined, () => sixth, (port) => `http://[::1]:${port}/console/`],
  [
    ['vault.example.com'],
    'https://vault.example.com/',
    () => all,
    () => 'https://vault.example.com/console/',
  ],
])(
  "the console's address opens with %j and %s",
  async (names, SERVICE_SERVER_URL, origin, expected) => {
    allowed = names
    const config = { ALLOWED_HOSTS: names, SERVICE_SERVER_URL }
    const place = { controlPlane: origin(), resolver: null, admin: [], location: 'there' }
    const text = formatReadyText({ ...place, config, consoleHash: 'abc' })
    const shown = /^ +console +(\S+) \(SHA-256 abc\)$/m.exec(text)?.[1] ?? ''
    expect(shown).toBe(expected(new URL(origin()).port))
    expect(text).toContain(`documentation  ${shown.replace('/console/', '/docs/')}\n`)
    if (SERVICE_SERVER_URL === undefined) expect((await fetch(shown)).status).toBe(200)
  },
)

const ASK = '/api/status/health/'

requires('curl').test.each([
  ['the default', ['localhost', '127.0.0.1', '[::1]'], () => loopback, ASK],
  ['a host name in ALLOWED_HOSTS', ['vault.example.com'], () => loopback, ASK],
  ['a domain with what is below it', ['.example.com'], () => loopback, ASK],
  ['every name', ['*'], () => loopback, ASK],
  ['all addresses', ['localhost', '127.0.0.1'], () => all, ASK],
  ['all addresses and a host name', ['vault.example.com'], () => all, ASK],
  ['IPv6', ['[::1]'], () => sixth, ASK],
  ['the resolver alone', ['resolver.example.com'], () => all, '/healthz'],
])('%s: the printed command succeeds', async (_, names, origin, path) => {
  allowed = names
  const isResolver = path === '/healthz'
  const line = tryLine({
    controlPlane: isResolver ? null : origin(),
    resolver: isResolver ? origin() : null,
  })
  const { stdout, exited } = watched(
    Bun.spawn(['sh', '-c', `${line} -sS --max-time 20 --noproxy '*' -w ' %{http_code}'`], {
      stdout: 'pipe',
    }),
  )
  expect({ said: await new Response(stdout).text(), code: await exited }).toEqual({
    said: `${path} 200`,
    code: 0,
  })
})
