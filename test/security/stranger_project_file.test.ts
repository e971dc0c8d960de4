// tier: all
/**
 * A cloned repository whose project file names a stranger's server and resolver. No command
 * reaches them until this user said yes for that folder and that address.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { executable } from '../binary/executable.ts'
import { answering } from '../cli/answering.ts'
import { groups, topLevel } from '../cli/every_command.ts'
import { openAccount, PASSWORD, type Run, type Terminal } from '../cli/person.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'

const VALUE = marked('sk_live_stranger_1')

/** Counts all arriving bytes. */
function openStranger() {
  const arrived = { connections: 0, bytes: 0 }
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => {
        arrived.connections += 1
      },
      data: (socket, data) => {
        arrived.bytes += data.length
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}')
      },
    },
  })
  return {
    arrived,
    address: `http://127.0.0.1:${listener.port}`,
    close: () => listener.stop(true),
  }
}

let app: TestApp
let ada: Terminal
let token: string
let workload: string
let stranger: ReturnType<typeof openStranger>

beforeAll(async () => {
  app = await sharedApp()
  stranger = openStranger()
  ada = await openAccount(app, 'ada@stranger-project-file.example')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `STRIPE_KEY=${VALUE}`)
  token = ((await ada.json('agent', 'create', 'bot')) as { token: string }).token
  workload = ((await ada.json('workload-token', 'issue', 'ci')) as { token: string }).token
})
afterAll(() => {
  stranger.close()
  ada.remove()
})

/** No address from the environment, so that the project file's is the first that counts. */
const UNSET = { SERVICE_SERVER_URL: '', SERVICE_RESOLVER_URL: '' }

type Options = { env?: Record<string, string>; stdin?: string; reveals?: boolean }

/** A folder beside the person's own, with a project file that another person wrote. */
function clone(name: string, projectFile: Record<string, unknown>) {
  const cwd = join(ada.home, 'work', name)
  mkdirSync(cwd)
  ada.write(join(name, '.cloakroom.json'), JSON.stringify(projectFile))
  return {
    cwd,
    run: (args: readonly string[], { env = {}, ...options }: Options = {}) =>
      ada.run(args, { cwd, env: { ...UNSET, ...env }, ...options }),
  }
}

function theirs() {
  return { server: stranger.address, resolver: stranger.address, project: 'payments' }
}

/** Other files of a repository, none of which is read for settings. */
function bringAlong(name: string): void {
  const { address } = stranger
  ada.write(join(name, 'some.env'), 'A=1\n')
  ada.write(join(name, 'some.tpl'), '{{ STRIPE_KEY }}\n')
  ada.write(join(name, '.env'), `SERVICE_SERVER_URL=${address}\nSERVICE_RESOLVER_URL=${address}\n`)
}

function ours() {
  return { server: app.controlPlane, resolver: app.resolver, project: 'payments' }
}

/** Arguments for commands that need more than one word for each. */
const ARGUMENTS: Record<string, string[]> = {
  run: ['run', '--', 'echo', 'started'],
  inject: ['inject', '-i', 'some.tpl'],
  proxy: ['proxy', '--', 'echo', 'started'],
  call: ['call', 'https://api.example.com/'],
  'secrets set': ['secrets', 'set', 'NAME=x'],
  'secrets push': ['secrets', 'push', 'some.env'],
  'secrets pull': ['secrets', 'pull'],
  'workspace invite': ['workspace', 'invite', 'eve@stranger-project-file.example'],
  'token revoke': ['token', 'revoke', 'bot', '0190'],
  'secrets delete': ['secrets', 'delete', 'STRIPE_KEY', '--yes'],
  'audit list': ['audit', 'list'],
  'agent setup': ['agent', 'setup', 'cursor'],
  'approvals watch': ['approvals', 'watch', '--once'],
  'notify add': ['notify', 'add', 'webhook', 'https://hooks.example.com/'],
  'proposals create': ['proposals', 'create', '--reason', 'why', '--host', 'api.example.com'],
  'policy set': ['policy', 'set', 'KEY', '--methods', 'GET'],
}
/** Commands that contact no server or the session's own server; MCP has its own test. */
const APART = [
  ...['account list', 'account remove', 'account use'],
  ...['backup', 'move', 'doctor', 'rekey-outer', 'restore', 'upgrade'],
  ...['demo', 'serve', 'health', 'keygen', 'self-check', 'settings'],
  ...['calculate_metrics', 'version'],
  ...['completion', 'config', 'echo', 'trust', 'lock', 'logout', 'mcp', 'unlock', 'help'],
]

/** Every command with a value for each argument that it needs. */
function commandLines(): string[][] {
  const named = [
    ...topLevel.map(({ usage }) => usage),
    ...groups.flatMap(({ name, commands }) => commands.map(({ usage }) => `${name} ${usage}`)),
  ]
  return named.flatMap((usage) => {
    const words = usage.split(' ').filter((word) => !word.startsWith('['))
    const name = words.filter((word) => !word.startsWith('<')).join(' ')
    if (APART.includes(name)) return []
    const { [name]: given } = ARGUMENTS
    return [given ?? words.map((word) => (word.startsWith('<') ? exampleOf(word) : word))]
  })
}

/** Bad input would be rejected before the server's address is checked. */
function exampleOf(argument: string): string {
  if (/email|member/.test(argument)) return 'eve@stranger-project-file.example'
  if (/domain/.test(argument)) return 'api.example.com'
  return argument === '<role>' ? 'member' : 'word'
}

async function refusals(way: (args: string[]) => Promise<Run>): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {}
  for (const args of commandLines()) {
    const { code, out, err } = await way(args)
    const isRefused =
      code === 5 &&
      err.includes('You have not trusted it for this folder; nothing was sent') &&
      err.includes('cloakroom trust')
    seen[args.join(' ')] = isRefused ? 'refused' : { code, out, err }
  }
  return seen
}

const allRefused = () =>
  Object.fromEntries(commandLines().map((args) => [args.join(' '), 'refused']))

describe("a stranger's server receives nothing", () => {
  test("a stranger's server receives nothing from any command, with the session of a person", async () => {
    const { run } = clone('by-session', theirs())
    bringAlong('by-session')
    const way = (args: string[]) => run(args, { stdin: `${PASSWORD}\n` })
    // These ask for a token before they ask for the address.
    const propose = 'proposals create --reason why --host api.example.com'
    expect(await refusals(way)).toEqual({
      ...allRefused(),
      'call https://api.example.com/': expect.objectContaining({ code: 3 }),
      [propose]: expect.objectContaining({ code: 3 }),
    })
    expect(stranger.arrived).toEqual({ connections: 0, bytes: 0 })
  }, 300_000)

  test("a stranger's server receives nothing from any command, with the token of an agent", async () => {
    const { run } = clone('by-token', theirs())
    bringAlong('by-token')
    const env = { SERVICE_TOKEN: token, SERVICE_RECOVERY_KEY: 'word' }
    const way = (args: string[]) => run(args, { env, stdin: `${PASSWORD}\n` })
    expect(await refusals(way)).toEqual(allRefused())
    expect(stranger.arrived).toEqual({ connections: 0, bytes: 0 })
  }, 300_000)

  test("a stranger's server receives nothing from the tools of MCP", async () => {
    const { cwd } = clone('by-mcp', theirs())
    const client = new Client({ name: 'test', version: '1' })
    const env = { HOME: ada.home, PATH: process.env.PATH ?? '', SERVICE_TOKEN: token }
    // The client starts the executable.
    const command = await executable()
    await client.connect(
      new StdioClientTransport({ command, args: ['mcp'], env, cwd, stderr: 'pipe' }),
    )
    const { tools } = await client.listTools()
    for (const { name } of tools) {
      const given = {
        ...(name === 'call_api' ? { url: 'https://api.example.com/' } : {}),
        ...(name === 'request_access' ? { reason: 'why', hosts: ['api.example.com'] } : {}),
      }
      const { content, isError } = await client.callTool({ name, arguments: given })
      expect([isError, JSON.stringify(content)]).toEqual([
        true,
        expect.stringContaining('cloakroom trust'),
      ])
    }
    await client.close()
    expect(stranger.arrived).toEqual({ connections: 0, bytes: 0 })
  })

  test("a stranger's resolver receives nothing", async () => {
    const { run } = clone('resolver-only', ours())
    expect((await run(['trust'])).code).toBe(0)
    const changed = { ...ours(), resolver: stranger.address }
    ada.write('resolver-only/.cloakroom.json', JSON.stringify(changed))
    const env = { SERVICE_TOKEN: token }
    const called = await run(['call', 'https://api.example.com/'], { env })
    expect([called.code, called.err]).toEqual([5, expect.stringContaining(stranger.address)])
    expect((await run(['proxy', '--', 'echo', 'started'], { env })).code).toBe(5)
    expect((await run(['whoami'])).code).toBe(0)
    expect(stranger.arrived).toEqual({ connections: 0, bytes: 0 })
  })

  test("a stranger's server receives nothing by a redirect of the own server", async () => {
    const redirecting = Bun.serve({
      port: 0,
      fetch: () => Response.redirect(`${stranger.address}/`, 307),
    })
    const server = { SERVICE_SERVER_URL: `http://127.0.0.1:${redirecting.port}` }
    const stdin = `${PASSWORD}\n`
    const args = [
      'login',
      'ada@stranger-project-file.example',
      '--password-stdin',
      '--insecure-storage',
    ]
    const { code, err } = await ada.run(args, { env: server, stdin })
    expect([code, err]).toEqual([6, expect.stringContaining('which is not followed')])
    const env = { ...server, SERVICE_TOKEN: token }
    expect((await ada.run(['run', '--', 'true'], { env })).code).toBe(6)
    await redirecting.stop(true)
    expect(stranger.arrived).toEqual({ connections: 0, bytes: 0 })
  })
})

describe('after the yes', () => {
  test('after the yes every way is usable: session, token, resolver', async () => {
    const { cwd, run } = clone('trusted', ours())
    expect((await run(['whoami'])).code).toBe(5)
    expect(await run(['trust'])).toEqual({
      code: 0,
      out: `folder    ${cwd}\nserver    ${app.controlPlane}\nresolver  ${app.resolver}\n`,
      err: '',
    })
    expect((await run(['whoami'])).out).toContain('ada@stranger-project-file.example')
    expect((await run(['secrets', 'get', 'STRIPE_KEY'], { reveals: true })).out).toBe(VALUE)
    const env = { SERVICE_TOKEN: token }
    const reader = { SERVICE_TOKEN: workload }
    expect((await run(['run', '--', 'echo', 'started'], { env: reader })).out).toBe('started\n')
    expect((await run(['proxy', '--', 'echo', 'started'], { env })).out).toBe('started\n')
    // The resolver's own error.
    expect((await run(['call', 'https://a.example/'], { env })).err).toContain('domain_blocked')
    const stdin = `${PASSWORD}\n`
    const login = [
      'login',
      'ada@stranger-project-file.example',
      '--password-stdin',
      '--insecure-storage',
    ]
    expect((await run(login, { stdin })).code).toBe(0)
  })

  test('after the yes a trusted stranger receives requests', async () => {
    const { run } = clone('theirs', theirs())
    expect((await run(['trust'])).code).toBe(0)
    const before = stranger.arrived.connections
    await run(['status'])
    expect(stranger.arrived.connections).toBeGreaterThan(before)
  })

  test('another address in the same file asks again, and so does the same file elsewhere', async () => {
    const { cwd, run } = clone('moving', ours())
    await run(['trust'])
    ada.write('moving/.cloakroom.json', JSON.stringify(theirs()))
    const { connections } = stranger.arrived
    expect((await run(['status'])).code).toBe(5)
    ada.write('moving/.cloakroom.json', JSON.stringify(ours()))
    expect((await run(['status'])).code).toBe(0)
    renameSync(cwd, `${cwd}-elsewhere`)
    mkdirSync(cwd)
    const moved = await ada.run(['status'], { cwd: `${cwd}-elsewhere`, env: UNSET })
    expect([moved.code, stranger.arrived.connections]).toEqual([5, connections])
  })

  test('a link to a trusted folder is that folder, and one to another is not', async () => {
    const { cwd, run } = clone('real', ours())
    const other = clone('not-real', ours())
    await run(['trust'])
    symlinkSync(cwd, `${cwd}-link`)
    expect((await ada.run(['status'], { cwd: `${cwd}-link`, env: UNSET })).code).toBe(0)
    symlinkSync(other.cwd, join(cwd, 'inside'))
    const inside = await ada.run(['status'], { cwd: join(cwd, 'inside'), env: UNSET })
    expect(inside.code).toBe(5)
  })

  test('the trust is removed with --remove', async () => {
    const { cwd, run } = clone('taken-back', ours())
    await run(['trust'])
    expect((await run(['status'])).code).toBe(0)
    expect((await run(['trust', '--remove'])).out).toBe(`${cwd} is trusted no longer.\n`)
    expect((await run(['status'])).code).toBe(5)
    expect((await run(['trust', '--remove'])).out).toBe(`${cwd} was not trusted.\n`)
  })

  test('the trust is stored in a file that only this user can read and write', async () => {
    const path = join(ada.home, '.config', 'cloakroom', 'trusted.json')
    chmodSync(path, 0o644)
    const { run } = clone('kept', ours())
    await run(['trust'])
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(Object.keys(JSON.parse(readFileSync(path, 'utf8')))).toContain(join(ada.cwd, 'kept'))
  })
})

describe("commands that imply the user's consent", () => {
  test('init, link and config --local trust the address that they write', async () => {
    for (const args of [
      ['init', 'payments'],
      ['link', 'payments'],
      ['config', 'server', `${app.controlPlane}/`, '--local'],
    ]) {
      const name = `by-${args[0]}`
      const { cwd, run } = clone(name, { project: 'payments' })
      const done = await ada.run(args, { cwd })
      expect([args, done.code, done.err]).toEqual([args, 0, ''])
      expect([args, (await run(['whoami'])).code]).toEqual([args, 0])
    }
  })

  test('link creates no project', async () => {
    const { cwd } = clone('mistyped', {})
    const { code, err } = await ada.run(['link', 'paymentz'], { cwd })
    expect([code, err]).toEqual([4, expect.stringContaining('there is no project paymentz')])
  })

  test('init of an own server does not trust a resolver in the file', async () => {
    const { cwd, run } = clone('half', { resolver: stranger.address })
    expect((await ada.run(['init', 'payments'], { cwd })).code).toBe(0)
    const { connections } = stranger.arrived
    const env = { SERVICE_TOKEN: token }
    expect((await run(['call', 'https://a.example/'], { env })).code).toBe(5)
    expect(stranger.arrived.connections).toBe(connections)
  })

  test('a terminal asks once, and only yes confirms', async () => {
    const { cwd } = clone('asked', ours())
    const type = async (answer: string) =>
      answering(['status'], {
        cwd,
        env: { HOME: ada.home },
        typed: [{ when: '(y/N)', type: answer }],
      })
    const no = await type('\r')
    expect([no.code, no.screen.includes('nothing was sent')]).toEqual([5, true])
    const yes = await type('y\r')
    expect([yes.code, yes.screen.includes('healthy')]).toEqual([0, true])
    const again = await type('')
    expect([again.code, again.screen.includes('Send your')]).toEqual([0, false])
  })

  test('an address that this user set elsewhere needs no confirmation', async () => {
    const { run } = clone('nothing-new', ours())
    const env = { XDG_CONFIG_HOME: join(ada.home, 'other') }
    const logIn = [
      'login',
      'ada@stranger-project-file.example',
      '--password-stdin',
      '--insecure-storage',
    ]
    const server = ['--server', app.controlPlane]
    expect((await run([...logIn, ...server], { env, stdin: `${PASSWORD}\n` })).code).toBe(0)
    expect((await run(['whoami'], { env })).code).toBe(0)
  })
})

test('a token in a project file is rejected, not read', async () => {
  const { run } = clone('with-token', { ...ours(), token })
  const { code, err } = await run(['call', 'https://a.example/'])
  expect([code, err]).toEqual([2, expect.stringContaining('is not a cloakroom settings file')])
})

test('a session is sent only to the server that created it', async () => {
  const { code, err } = await ada.run(['whoami', '--server', stranger.address])
  expect([code, err]).toEqual([3, expect.stringContaining('is an account at')])
})

describe('other machines without encryption', () => {
  const FAR = 'http://cloakroom.invalid'
  const lines: [string, string[], Record<string, string>][] = [
    ['a flag', ['status', '--server', FAR], {}],
    ['a variable', ['status'], { SERVICE_SERVER_URL: FAR }],
    ['a session', ['project', 'list'], { SERVICE_SERVER_URL: FAR }],
    ['a token for names', ['secrets', 'list'], { SERVICE_RESOLVER_URL: FAR }],
    ['a token for values', ['secrets', 'pull'], { SERVICE_SERVER_URL: FAR }],
    ['the resolver', ['call', 'https://a.example/', '--resolver', FAR], {}],
    ['its variable', ['call', 'https://a.example/'], { SERVICE_RESOLVER_URL: FAR }],
    ['the proxy', ['proxy', '--', 'true'], { SERVICE_RESOLVER_URL: FAR }],
    ['delivery', ['run', '--', 'true'], { SERVICE_SERVER_URL: FAR }],
  ]
  for (const [name, args, env] of lines) {
    test(`${name} is rejected, and accepted with --insecure-http`, async () => {
      const all = { SERVICE_TOKEN: token, ...env }
      const refused = await ada.run(args, { env: all })
      expect([refused.code, refused.err]).toEqual([5, expect.stringContaining('--insecure-http')])
      expect(refused.err).toContain('cloakroom.invalid')
      const after = { ...all, SERVICE_INSECURE_HTTP: '1' }
      const first = args.slice(0, 1)
      const withFlag = await ada.run([...first, '--insecure-http', ...args.slice(1)], { env: all })
      const withVariable = await ada.run(args, { env: after })
      for (const { err } of [withFlag, withVariable]) {
        expect(err).not.toContain('without encryption')
      }
    })
  }

  test('a project file cannot allow unencrypted addresses', async () => {
    const { run } = clone('far', { server: FAR })
    expect((await run(['trust'])).err).toContain('--insecure-http')
    ada.write('far/.cloakroom.json', JSON.stringify({ server: FAR, insecure_http: true }))
    expect((await run(['status'])).err).toContain('is not a cloakroom settings file')
  })
})
