// tier: all
/** `cloakroom agent setup --mcp-server`: its entry connects the official client to a remote MCP server. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { parse as parseJson } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { toolNames } from '../../../src/cli/agent_setup/tools.ts'
import { openStage, type Stage } from '../../support/agent.ts'
import { marked } from '../../support/canary.ts'
import { type McpUpstream, startMcpUpstream } from '../../support/mcp_upstream.ts'
import { openAccount, type Terminal } from '../person.ts'

const VALUE = marked('lin_oauth_not_real_')

let stage: Stage
let upstream: McpUpstream
let ada: Terminal
/** A narrowed token, following the command's advice. */
let token: string

beforeAll(async () => {
  stage = await openStage()
  upstream = await startMcpUpstream(stage, VALUE)
  ada = await openAccount(stage.app, 'ada@remote.example')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `UPSTREAM_MCP=${VALUE}`, 'OTHER=another-value')
  await ada.must('allowlist', 'add', upstream.authority)
  await ada.must('agent', 'create', 'bot', '--quiet')
})
afterAll(async () => {
  ada.remove()
  await upstream.stop()
  await stage.stop()
})

type Written = Record<string, unknown>
type Place = {
  file: string
  servers: (text: string) => Record<string, Written>
  /** Another server, which stays. */
  others: string
  entry(url: string, type: 'http' | 'sse'): Written
  /** The URL and headers that the program sends, by its documentation. */
  sent(entry: Written, env: Record<string, string>): { url: string; headers: Written }
}

const AUTHORIZATION = 'Bearer SVC_SECRET_UPSTREAM_MCP'
const headersWith = (variable: string) => ({
  Authorization: AUTHORIZATION,
  'X-Service-Token': variable,
})
const expanded =
  (variable: RegExp, field = 'url'): Place['sent'] =>
  (entry, env) => ({
    url: String(entry[field] ?? entry.url),
    headers: Object.fromEntries(
      Object.entries(entry.headers as Record<string, string>).map(([name, value]) => [
        name,
        value.replace(variable, (_, key: string) => env[key] ?? ''),
      ]),
    ),
  })
const IN_BRACES = /\$\{(\w+)\}/g
const AFTER_ENV = /\$\{env:(\w+)\}/g
const jsonPlace = (key: string): Pick<Place, 'servers' | 'others'> => ({
  servers: (text) => parseJson(text)[key],
  others: `{\n  // mine\n  "${key}": {\n    "other": { "url": "https://a.example", "headers": { "Authorization": "of-another" } }\n  }\n}\n`,
})

const places: Record<string, Place> = {
  'claude-code': {
    file: '.mcp.json',
    ...jsonPlace('mcpServers'),
    entry: (url, type) => ({ type, url, headers: headersWith('$' + '{SERVICE_TOKEN}') }),
    sent: expanded(IN_BRACES),
  },
  cursor: {
    file: '.cursor/mcp.json',
    ...jsonPlace('mcpServers'),
    entry: (url) => ({ url, headers: headersWith('$' + '{env:SERVICE_TOKEN}') }),
    sent: expanded(AFTER_ENV),
  },
  vscode: {
    file: '.vscode/mcp.json',
    ...jsonPlace('servers'),
    entry: (url, type) => ({ type, url, headers: headersWith('$' + '{env:SERVICE_TOKEN}') }),
    sent: expanded(AFTER_ENV),
  },
  codex: {
    file: '.codex/config.toml',
    servers: (text) => parseToml(text).mcp_servers as Record<string, Written>,
    others: '# mine\nmodel = "x"\n\n[mcp_servers.other]\nurl = "https://a.example"\n',
    entry: (url) => ({
      url,
      http_headers: { Authorization: AUTHORIZATION },
      env_http_headers: { 'X-Service-Token': 'SERVICE_TOKEN' },
    }),
    sent: ({ url, http_headers, env_http_headers }, env) => ({
      url: String(url),
      headers: {
        ...(http_headers as Written),
        ...Object.fromEntries(
          Object.entries(env_http_headers as Record<string, string>).map(([name, key]) => [
            name,
            env[key],
          ]),
        ),
      },
    }),
  },
  gemini: {
    file: '.gemini/settings.json',
    ...jsonPlace('mcpServers'),
    entry: (url, type) => ({
      [type === 'sse' ? 'url' : 'httpUrl']: url,
      headers: headersWith('$' + '{SERVICE_TOKEN}'),
    }),
    sent: expanded(IN_BRACES, 'httpUrl'),
  },
  opencode: {
    file: 'opencode.json',
    ...jsonPlace('mcp'),
    entry: (url) => ({
      type: 'remote',
      url,
      headers: headersWith('{env:SERVICE_TOKEN}'),
      oauth: false,
    }),
    sent: expanded(/\{env:(\w+)\}/g),
  },
}

const setUp = (tool: string, ...args: string[]) => ada.run(['agent', 'setup', tool, ...args])
const setUpRemote = (tool: string, path: string, ...args: string[]) =>
  setUp(tool, '--mcp-server', `${upstream.origin}${path}`, '--agent', 'bot', ...args)
const read = (path: string) => readFileSync(path, 'utf8')
const put = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
const through = (path: string) => `${stage.app.resolver}/v1/forward/${upstream.authority}${path}`

/** Sends the way the program would, with the token in its environment. */
async function callAs({ sent }: Place, entry: Written, path: string): Promise<unknown> {
  const { url, headers } = sent(entry, { SERVICE_TOKEN: token })
  const requestInit = { headers: headers as Record<string, string> }
  const client = new Client({ name: 'test', version: '1' })
  const Transport = path === '/sse' ? SSEClientTransport : StreamableHTTPClientTransport
  await client.connect(new Transport(new URL(url), { requestInit }))
  const { content } = await client.callTool({ name: 'shout', arguments: { text: 'hello' } })
  await client.close()
  return content
}

test('every program has its test', () => {
  expect(Object.keys(places)).toEqual(toolNames)
})

test('the command names the steps that come first, and they succeed as typed', async () => {
  const { err } = await setUpRemote('cursor', '/mcp', '--print')
  expect(err).toContain(`cloakroom connect UPSTREAM_MCP --url ${upstream.origin}/mcp\n`)
  const [, line = ''] = /: cloakroom (token issue .+)/.exec(err) ?? []
  expect(line).toBe(`token issue bot --host ${upstream.authority} --secret UPSTREAM_MCP`)
  token = ((await ada.json(...line.split(' '))) as { token: string }).token
})

describe.each(Object.entries(places))('%s', (tool, place) => {
  const { file, servers, others, entry } = place
  const path = () => join(ada.cwd, file)
  const transports = tool === 'codex' ? (['/mcp'] as const) : (['/mcp', '/sse'] as const)

  test.each(transports)('the file reaches the server at %s, and has no token', async (at) => {
    const { code, out, err } = await setUpRemote(tool, at, '--yes')
    expect([code, out]).toEqual([0, expect.stringContaining(`reaches upstream: ${path()}\n`)])
    expect(err).toContain('+ ')
    const written = servers(read(path()))
    expect(written).toEqual({ upstream: entry(through(at), at === '/sse' ? 'sse' : 'http') })
    expect(read(path())).not.toContain('svc_')
    expect(await callAs(place, written.upstream ?? {}, at)).toEqual([
      { type: 'text', text: 'HELLO' },
    ])
    const before = statSync(path()).mtimeMs
    expect((await setUpRemote(tool, at)).out).toContain('reaches upstream already')
    expect(statSync(path()).mtimeMs).toBe(before)
    rmSync(path())
  })

  test('agent setup keeps other servers, byte for byte, and does not print them', async () => {
    put(path(), others)
    const { code, err } = await setUpRemote(tool, '/mcp', '--yes')
    expect([code, err]).toEqual([0, expect.not.stringContaining('of-another')])
    expect(servers(read(path()))).toEqual({
      ...servers(others),
      upstream: entry(through('/mcp'), 'http'),
    })
    const removed = await setUp(tool, '--remove', '--name', 'upstream', '--yes')
    expect(removed.out).toContain('does not reach upstream')
    expect(read(path())).toBe(others)
    rmSync(path())
  })
})

test("a person's own entry of the same name is replaced without printing its contents", async () => {
  const path = join(ada.cwd, '.cursor/mcp.json')
  const own = {
    url: 'https://a.example?key=q1',
    headers: { Authorization: 'Bearer own' },
    env: { A: 'b1' },
  }
  put(path, JSON.stringify({ mcpServers: { upstream: own } }))
  const { err } = await setUpRemote('cursor', '/mcp', '--yes')
  expect(err).toContain('-       "url": "…"')
  for (const text of ['q1', 'Bearer own', 'b1']) expect(err).not.toContain(text)
  put(path, JSON.stringify({ mcpServers: { upstream: own } }))
  const removed = await setUp('cursor', '--remove', '--name', 'upstream', '--yes')
  expect(removed.err).toContain('Authorization')
  expect(removed.err).not.toContain('Bearer own')
  rmSync(path)
})

test('the typed environment is sent, and names can be chosen', async () => {
  const given = ['--secret', 'OTHER', '--name', 'line-two', '-e', 'staging', '--print']
  const { out, err } = await setUpRemote('claude-code', '/mcp?a=b', ...given)
  expect(err).toContain('--secret OTHER -e staging\n')
  expect(parseJson(out).mcpServers).toEqual({
    'line-two': {
      type: 'http',
      url: through('/mcp?a=b'),
      headers: {
        Authorization: 'Bearer SVC_SECRET_OTHER',
        'X-Service-Environment': 'staging',
        'X-Service-Token': '$' + '{SERVICE_TOKEN}',
      },
    },
  })
})

test.each([
  ['https://mcp.linear.app/mcp', 'linear', 'LINEAR_MCP'],
  ['https://api.githubcopilot.com/mcp/', 'githubcopilot', 'GITHUBCOPILOT_MCP'],
  ['https://mcp.two-words.co.uk/', 'two-words', 'TWO_WORDS_MCP'],
])('%s is named %s and uses %s', async (url, name, secret) => {
  const { out } = await setUp('gemini', '--mcp-server', url, '--print')
  const { [name]: entry } = parseJson(out).mcpServers
  expect(entry.headers.Authorization).toBe(`Bearer SVC_SECRET_${secret}`)
})

const refused: string[][] = [
  ['http://mcp.linear.app/mcp'],
  ['https://user:word@mcp.linear.app/mcp'],
  ['linear'],
  ['https://127.0.0.1/mcp'],
  ['https://mcp.linear.app/mcp', '--name', 'cloakroom'],
  ['https://mcp.linear.app/mcp', '--name', 'a.b'],
  ['https://mcp.linear.app/mcp', '--secret', 'a-b'],
]
test.each(refused.map((args) => [args] as const))('--mcp-server %j is rejected', async (args) => {
  const { code, err } = await setUp('cursor', '--mcp-server', ...args, '--print')
  expect([code, err]).toEqual([2, expect.not.stringContaining('user:word')])
})

test('options of a remote server require one, and Codex has no SSE', async () => {
  for (const args of [
    ['--name', 'x'],
    ['--secret', 'X'],
    ['--remove', '--secret', 'X'],
  ])
    expect((await setUp('cursor', ...args, '--print')).code).toBe(2)
  const { code, err } = await setUpRemote('codex', '/sse', '--yes')
  expect([code, err]).toEqual([2, expect.stringContaining('SSE')])
})
