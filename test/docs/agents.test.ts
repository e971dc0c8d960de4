// tier: all
/** Executes docs/guides/agents.md from top to bottom. Programs that the test machine may lack have a stand-in. */
import { afterAll, beforeAll, expect } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { toolNames } from '../../src/cli/agent_setup/tools.ts'
import { marked, searcher } from '../support/canary.ts'
import { commandLinesIn } from '../support/command_lines.ts'
import { findProgram } from '../support/needs.ts'
import { loopbackFetch, openInBrowser } from '../support/oauth/browser.ts'
import { startProvider } from '../support/oauth/provider.ts'
import { requires } from '../support/requires.ts'
import { answerOf } from '../support/upstream.ts'
import { blocksOf, linesOf, scriptOf } from './blocks.ts'
import { echoOf, openReader, type Reader } from './reader.ts'

const TOKEN = marked('ghp_0123456789')
const MCP = 'mcp.linear.app'
const { test } = requires('bash', 'curl')

let reader: Reader

beforeAll(async () => {
  reader = await openReader(['api.github.com', MCP])
}, 120_000)
afterAll(() => reader.stop())

const settings = blocksOf('docs/guides/agents.md', 'settings').flatMap(({ details, text }) =>
  details.map((name) => ({ name, text })),
)
const projectFile = () => join(reader.ada.cwd, '.mcp.json')
const lastSent = (header: string) => reader.stage.upstream.received.at(-1)?.header(header)

test('Claude Code starts with a stand-in, and its request arrives with the token', async () => {
  const { stage, install, type } = reader
  stage.upstream.on('/user', echoOf('authorization'))
  // Replaces Claude Code: one command of its session.
  install('claude', 'curl -sS -H "Authorization: Bearer $GITHUB_TOKEN" https://api.github.com/user')
  const [set = '', allow = '', start = ''] = linesOf('docs/guides/agents.md', 'start')
  await type(set, [{ when: 'Value of ', type: `${TOKEN}\r` }])
  await type(allow)
  const [, shown = ''] = /got Bearer (\S+)/.exec(await type(start)) ?? []
  expect(shown).toMatch(/^ghp_\w+$/)
  expect(shown).toHaveLength(TOKEN.length)
  expect(lastSent('authorization')).toBe(`Bearer ${TOKEN}`)
}, 60_000)

test('the MCP commands write the settings file of the page, and its command offers the tools', async () => {
  const { ada, env, type } = reader
  const [create = '', setUp = ''] = linesOf('docs/guides/agents.md', 'mcp')
  await type(create)
  await type(setUp, [{ when: '(y/N)', type: 'y\r' }])
  const written = readFileSync(projectFile(), 'utf8')
  expect(written).toBe(settings.find(({ name }) => name === 'claude-code')?.text ?? '')
  const { command, args } = JSON.parse(written).mcpServers.cloakroom
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StdioClientTransport({ command, args, env, cwd: ada.cwd, stderr: 'pipe' })
  transport.stderr?.on('data', searcher('output', 'stderr of mcp'))
  await client.connect(transport)
  const { tools } = await client.listTools()
  await client.close()
  const names = ['list_credentials', 'call_api', 'check_status', 'request_access', 'read_audit']
  expect(tools.map(({ name }) => name).sort()).toEqual(names.sort())
}, 60_000)

test('each settings file of the page is what agent setup prints', async () => {
  expect(settings.map(({ name }) => name).sort()).toEqual(toolNames.toSorted())
  for (const { name, text } of settings)
    expect(await reader.ada.must('agent', 'setup', name, '--agent', 'deploy-bot', '--print')).toBe(
      text,
    )
})

test('the remote MCP server receives a renewed token from the settings file of the page', async () => {
  const { stage, ada, type, placed } = reader
  rmSync(projectFile())
  const url = stage.url('/mcp', MCP)
  const provider = await startProvider({ authority: stage.authority, host: MCP })
  provider.setFault({
    acceptsAnyPath: true,
    editResource: (metadata) => void Object.assign(metadata, { resource: url }),
  })
  // The provider has another port than the server that it protects.
  const trusted = loopbackFetch(provider.certificate)
  const send: typeof trusted = (address, init) =>
    trusted(address.replace(stage.authorityOf(MCP), provider.host), init)
  const [connect = '', setUp = '', issue = ''] = linesOf('docs/guides/agents.md', 'remote')
  const [words = []] = commandLinesIn(placed(connect))
  const connected = await ada.run(words, {
    providers: {
      providerFetch: send as never,
      openBrowser: (address) => void openInBrowser(address, send).catch(() => {}),
    },
  })
  expect(connected).toMatchObject({ code: 0 })
  await type(setUp, [{ when: '(y/N)', type: 'y\r' }])
  const written = readFileSync(projectFile(), 'utf8')
  const printed = placed(scriptOf('docs/guides/agents.md', 'linear'))
  expect(written).toBe(printed.replace('http://127.0.0.1:8788', stage.app.resolver))
  const [token = ''] = /svc_agt_\S+/.exec(await type(issue)) ?? []
  const entry = JSON.parse(written.replace('$' + '{SERVICE_TOKEN}', token)).mcpServers.linear
  expect((await fetch(entry.url, { method: 'POST', headers: entry.headers })).status).toBe(200)
  const [, sent = ''] = /^Bearer (\S+)$/.exec(lastSent('authorization') ?? '') ?? []
  expect(await provider.isLive(sent)).toBe(true)
  await provider.stop()
}, 60_000)

requires('bash', 'gh').test(
  'a policy lets gh list issues, and the secret permits only reads',
  async () => {
    const { stage, ada, install, type } = reader
    const issues = { totalCount: 1, nodes: [{ number: 7, title: 'Noted', labels: { nodes: [] } }] }
    stage.upstream.on('/api/graphql', ({ body }, wire) => {
      // gh first reads which fields an issue has.
      const data = Buffer.from(body).includes('__type')
        ? { Issue: { fields: [] } }
        : { repository: { hasIssuesEnabled: true, issues } }
      const headers = { 'content-type': 'application/json' }
      wire.write(answerOf(200, headers, JSON.stringify({ data })))
    })
    // The real program, with the port of the test's API.
    const program = findProgram('gh')
    install('gh', `GH_HOST=api.github.com GH_ENTERPRISE_TOKEN=$GITHUB_TOKEN exec ${program} "$@"`)
    const [set = '', list = ''] = linesOf('docs/guides/agents.md', 'read')
    await type(set)
    expect(await type(list)).toContain('Noted')
    expect(lastSent('authorization')).toBe(`token ${TOKEN}`)
    expect(await ada.json('policy', 'show', 'GITHUB_TOKEN')).toMatchObject({
      policy: { allowed_domains: [stage.authorityOf('api.github.com')], read_only: true },
    })
  },
  60_000,
)

test('the tokens of the page have its limits', async () => {
  const [first = '', second = '', list = ''] = linesOf('docs/guides/agents.md', 'limits')
  await reader.type(first)
  await reader.type(second)
  const { out } = await reader.ada.shell(list)
  for (const limit of ['60 a minute', '1,000 today', '5 at once', '100,000,000', '1,000,000'])
    expect(out).toContain(limit)
}, 60_000)
