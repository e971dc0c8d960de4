// tier: all
/** `cloakroom agent setup`: programs start `cloakroom mcp` (the executable), and none of their files contains a token. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { parse as parseJson } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { toolNames } from '../../../src/cli/agent_setup/tools.ts'
import { createAuthority } from '../../../src/cli/demo/certificates.ts'
import { executable } from '../../binary/executable.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { answering } from '../answering.ts'
import { openAccount, PASSWORD, type Terminal } from '../person.ts'

let app: TestApp
let ada: Terminal
let program: string

beforeAll(async () => {
  app = await sharedApp()
  program = await executable()
  ada = await openAccount(app, 'ada@command.example')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', 'STRIPE_KEY=sk_live_setup')
  await ada.must('agent', 'create', 'deploy-bot', '--save')
})
afterAll(() => {
  ada.remove()
})

const ARGS = ['mcp', '--agent', 'deploy-bot']
const stdio = { type: 'stdio', command: 'cloakroom', args: ARGS }

type Told = { command: string | string[]; args?: string[] }
type Place = {
  project: string
  user: string
  /** A file with another server. */
  others: string
  servers: (text: string) => Record<string, Told>
  entry: unknown
}

const jsonPlace = (key: string, entry: unknown, more: Pick<Place, 'project' | 'user'>): Place => ({
  ...more,
  others: `{\n  // mine\n  "${key}": {\n    "other": { "url": "https://a.example", "env": { "KEY": "of-another" } }\n  }\n}\n`,
  servers: (text) => parseJson(text)[key],
  entry,
})

const places: Record<string, Place> = {
  'claude-code': jsonPlace('mcpServers', stdio, { project: '.mcp.json', user: '.claude.json' }),
  cursor: jsonPlace('mcpServers', stdio, { project: '.cursor/mcp.json', user: '.cursor/mcp.json' }),
  vscode: jsonPlace('servers', stdio, {
    project: '.vscode/mcp.json',
    user: '.config/Code/User/mcp.json',
  }),
  codex: {
    project: '.codex/config.toml',
    user: '.codex/config.toml',
    others: '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"\n',
    servers: (text) => parseToml(text).mcp_servers as Record<string, Told>,
    entry: { command: 'cloakroom', args: ARGS, env_vars: expect.any(Array) },
  },
  gemini: jsonPlace(
    'mcpServers',
    { command: 'cloakroom', args: ARGS },
    { project: '.gemini/settings.json', user: '.gemini/settings.json' },
  ),
  opencode: jsonPlace(
    'mcp',
    { type: 'local', command: ['cloakroom', ...ARGS] },
    { project: 'opencode.json', user: '.config/opencode/opencode.json' },
  ),
}

const PATH = () => `${dirname(program)}:${process.env.PATH}`
/** Uses the account's own addresses, so that no environment is needed later. */
const setUp = (tool: string, ...args: string[]) =>
  ada.run(['agent', 'setup', tool, ...args], { env: { PATH: PATH() } })
const read = (path: string) => readFileSync(path, 'utf8')
const put = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** Starts the entry of a file the way the program would, and lists the tools. */
async function start({ command, args = [] }: Told, cwd: string): Promise<string[]> {
  const [first = '', ...rest] = Array.isArray(command) ? command : [command, ...args]
  const client = new Client({ name: 'test', version: '1' })
  const env = { HOME: ada.home, PATH: PATH(), SERVICE_SERVER_URL: '', SERVICE_RESOLVER_URL: '' }
  const addresses = { SERVICE_SERVER_URL: app.controlPlane, SERVICE_RESOLVER_URL: app.resolver }
  const transport = new StdioClientTransport({
    command: first,
    args: rest,
    env: { ...env, ...(first === 'cloakroom' ? addresses : {}) },
    cwd,
    stderr: 'pipe',
  })
  await client.connect(transport)
  const { content } = await client.callTool({ name: 'list_credentials', arguments: {} })
  await client.close()
  const [{ text }] = content as [{ text: string }]
  const { credentials } = JSON.parse(text) as { credentials: { placeholder: string }[] }
  return credentials.map(({ placeholder }) => placeholder)
}

test('every program has its test', () => {
  expect(Object.keys(places)).toEqual(toolNames)
})

describe.each(Object.entries(places))('%s', (tool, { project, user, others, servers, entry }) => {
  const path = () => join(ada.cwd, project)

  test('agent setup without a file creates one, and the program starts its entry', async () => {
    const { code, out, err } = await setUp(tool, '--yes')
    expect([code, out]).toEqual([0, expect.stringContaining(`starts cloakroom: ${path()}\n`)])
    expect(err).toContain('+ ')
    const { cloakroom, ...rest } = servers(read(path()))
    expect({ cloakroom, rest }).toEqual({ cloakroom: entry as Told, rest: {} })
    expect(read(path())).not.toContain('svc_')
    expect(statSync(path()).mode & 0o777).toBe(0o644)
    expect(await start(cloakroom as Told, ada.cwd)).toEqual(['SVC_SECRET_STRIPE_KEY'])
  })

  test('a second agent setup writes and asks nothing', async () => {
    const written = () => [statSync(path()).ino, statSync(path()).mtimeMs]
    const before = written()
    const { code, out } = await setUp(tool)
    expect([code, out]).toEqual([0, expect.stringContaining('starts cloakroom already')])
    expect(written()).toEqual(before)
  })

  test('agent setup keeps other entries of the file, byte for byte, and does not print them', async () => {
    put(path(), others)
    const { code, err } = await setUp(tool, '--yes')
    expect([code, err]).toEqual([0, expect.not.stringContaining('other')])
    expect(servers(read(path()))).toEqual({
      ...servers(others),
      cloakroom: entry as Told,
    })
    const removed = await setUp(tool, '--remove', '--yes')
    expect([removed.code, removed.out]).toEqual([
      0,
      expect.stringContaining('does not start cloakroom'),
    ])
    expect(read(path())).toBe(others)
    expect((await setUp(tool, '--remove')).out).toContain('does not start cloakroom already')
  })

  test('a broken file is left unchanged', async () => {
    put(path(), '{ "mcpServers": [')
    for (const more of [['--yes'], ['--remove', '--yes']]) {
      const { code, err } = await setUp(tool, ...more)
      expect([code, err]).toEqual([2, expect.stringContaining('nothing was written')])
    }
    expect(read(path())).toBe('{ "mcpServers": [')
    rmSync(path())
  })

  test('--print prints the entry and writes nothing', async () => {
    const { code, out, err } = await setUp(tool, '--print')
    expect([code, err]).toEqual([0, `Put it in ${path()}\n`])
    expect(servers(out)).toEqual({ cloakroom: entry as Told })
    expect(() => statSync(path())).toThrow()
  })

  test("an entry in the user's file is usable from any folder", async () => {
    const own = join(ada.home, user)
    expect((await setUp(tool, '--user', '--yes')).code).toBe(0)
    expect(statSync(own).mode & 0o777).toBe(0o600)
    const { cloakroom } = servers(read(own))
    const entry = JSON.stringify(cloakroom)
    expect([entry.includes(program), entry.includes('svc_')]).toEqual([true, false])
    expect(await start(cloakroom as Told, ada.home)).toEqual(['SVC_SECRET_STRIPE_KEY'])
    expect((await setUp(tool, '--user', '--remove', '--yes')).code).toBe(0)
  })
})

test("agent setup uses opencode's existing file, and adds its server beside the others", async () => {
  const path = join(ada.cwd, 'opencode.jsonc')
  put(path, '{\n  "mcp": {\n    "servers": {\n      "a": { "type": "local" }\n    }\n  }\n}\n')
  expect((await setUp('opencode', '--yes')).code).toBe(0)
  expect(Object.keys(parseJson(read(path)).mcp.servers)).toEqual(['a', 'cloakroom'])
  rmSync(path)
})

test('agent setup asks before it writes, and only yes confirms', async () => {
  const { code, err } = await setUp('cursor')
  expect([code, err]).toEqual([2, expect.stringContaining('--yes')])
  const type = async (answer: string) => {
    const env = {
      HOME: ada.home,
      PATH: PATH(),
      SERVICE_SERVER_URL: app.controlPlane,
      SERVICE_RESOLVER_URL: app.resolver,
    }
    const typed = [{ when: 'Write this to', type: answer }]
    return answering(['agent', 'setup', 'cursor'], { cwd: ada.cwd, env, typed })
  }
  expect((await type('\r')).code).toBe(5)
  expect(() => statSync(join(ada.cwd, '.cursor/mcp.json'))).toThrow()
  expect((await type('y\r')).code).toBe(0)
  expect(read(join(ada.cwd, '.cursor/mcp.json'))).toContain('deploy-bot')
})

test('a token in an earlier entry is never printed', async () => {
  const token = `svc_agt_${'a'.repeat(71)}`
  const path = join(ada.cwd, '.cursor/mcp.json')
  const earlier = { command: 'cloakroom', args: ['mcp', '--token', token], env: { PASS: 'word' } }
  put(path, JSON.stringify({ mcpServers: { cloakroom: earlier } }))
  const { code, err } = await setUp('cursor', '--yes')
  expect([code, err.includes(token), err.includes('word')]).toEqual([0, false, false])
  expect(err).toContain('-         "--token",')
  expect(read(path)).not.toContain(token)
})

test('agent setup writes through no link', async () => {
  const elsewhere = join(ada.home, 'elsewhere')
  mkdirSync(elsewhere)
  rmSync(join(ada.cwd, '.vscode'), { recursive: true, force: true })
  symlinkSync(elsewhere, join(ada.cwd, '.vscode'))
  expect((await setUp('vscode', '--yes')).err).toContain(
    'is a link to a file outside of this folder',
  )
  rmSync(join(ada.cwd, '.vscode'))
  symlinkSync(join(elsewhere, 'mcp.json'), join(ada.cwd, '.mcp.json'))
  expect((await setUp('claude-code', '--yes')).err).toContain('is a link')
  rmSync(join(ada.cwd, '.mcp.json'))
})

test("the user's file has all settings of this machine, and the project's file only the typed ones", async () => {
  const { certificate } = await createAuthority('Our own')
  ada.write('ca.pem', certificate)
  const typed = ['--print', '--ca-file', 'ca.pem', '-e', 'staging']
  const argsOf = ({ out }: { out: string }) => JSON.parse(out).mcpServers.cloakroom.args
  expect(argsOf(await setUp('gemini', ...typed))).toEqual([...ARGS, '--env', 'staging'])
  const workspace = await ada.must('config', 'workspace', '--quiet')
  expect(argsOf(await setUp('gemini', '--user', ...typed))).toEqual([
    ...ARGS,
    ...['--server', app.controlPlane, '--resolver', app.resolver],
    ...['--workspace', workspace.trim(), '--env', 'staging'],
    ...['--account', `ada@command.example@${new URL(app.controlPlane).host}`],
    ...['--ca-file', join(ada.cwd, 'ca.pem')],
  ])
})

test('agent setup needs a known program, one clear agent and a token saved on this machine', async () => {
  expect((await setUp('nano', '--yes')).err).toContain('there is no program nano')
  expect((await setUp('cursor', '--print', '--remove')).code).toBe(2)
  await ada.must('agent', 'create', 'bare', '--quiet')
  const bare = await setUp('cursor', '--agent', 'bare', '--yes')
  expect([bare.code, bare.err]).toEqual([3, expect.stringContaining('token issue bare --save')])
  await ada.must('agent', 'create', 'second', '--save')
  const several = await setUp('cursor', '--yes')
  expect([several.code, several.err]).toEqual([4, expect.stringContaining('deploy-bot, second')])
  expect((await setUp('cursor', '--agent', 'second', '--print')).out).toContain('"second"')
  const { out } = await setUp('gemini', '--agent', 'second', '--print', '-e', 'staging')
  expect(out).toContain('"--env",')
  const options = { stdin: `${PASSWORD}\n` }
  await ada.run(['logout'])
  expect((await setUp('cursor', '--agent', 'second', '--print')).code).toBe(3)
  await ada.run(['login', 'ada@command.example', '--password-stdin', '--insecure-storage'], options)
})
