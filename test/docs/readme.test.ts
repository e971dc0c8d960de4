// tier: all
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { topLevel } from '../cli/every_command.ts'
import { openAccount } from '../cli/person.ts'
import { openStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { blocksOf, linesOf, scriptOf } from './blocks.ts'
import { textOf } from './documents.ts'
import { takeTour } from './tour.ts'

const ROOT = join(import.meta.dir, '..', '..')
const readme = textOf('README.md')
/** The file that `agent setup claude-code` writes. */
const MCP_SERVERS = {
  mcpServers: {
    cloakroom: { type: 'stdio', command: 'cloakroom', args: ['mcp', '--agent', 'deploy-bot'] },
  },
}

requires('bash', 'curl').test(
  'every command of the README works as it is printed, and the answer is the printed one',
  async () => {
    const lines = [...linesOf('README.md', 'agent'), 'cat .mcp.json']
    const { shown, answers, key } = await takeTour('README.md', lines)
    const echoed = scriptOf('README.md', 'echo')
    const call = answers.find(({ line }) => line.startsWith('cloakroom call'))
    expect(jsonIn(call?.screen ?? '')).toEqual(JSON.parse(echoed))
    const fingerprint = createHash('sha256').update(key).digest('hex').slice(0, 8)
    const masked = `Bearer ******** (${key.length} characters, SHA-256 ${fingerprint}…)`
    expect(shown.split(masked)).toHaveLength(2)
    expect(answers.map(({ screen }) => screen).join('')).not.toContain('svc_agt_')
    expect(JSON.parse(answers.at(-1)?.screen ?? '')).toEqual(MCP_SERVERS)
  },
  120_000,
)

requires('bash').test(
  'the page about the first call works from the first to the last line, as it is printed',
  async () => {
    const page = 'docs/start/first-call.md'
    const { shown, answers } = await takeTour('docs/start/first-call.md', ['cat .mcp.json'])
    const echoed = scriptOf('docs/start/first-call.md', 'echo')
    const call = answers.find(({ line }) => line.startsWith('cloakroom call'))
    expect(jsonIn(call?.screen ?? '')).toMatchObject(JSON.parse(echoed))
    const record = answers.find(({ line }) => line === 'cloakroom audit list')
    expect(record?.screen).toMatch(/deploy-bot .*echo\.internal/)
    expect(JSON.parse(answers.at(-1)?.screen ?? '')).toEqual(MCP_SERVERS)
    const printed = blocksOf(page).filter(
      ({ language, name }) => language === 'text' && name !== '',
    )
    expect(printed).toHaveLength(2)
    const lines = printed.flatMap(({ text }) => shapeOf(text).trimEnd().split('\n'))
    // The echo API's own line is on standard error.
    for (const line of lines.filter((text) => !text.startsWith('The echo API')))
      expect(shapeOf(shown).split('\n')).toContain(line)
  },
  120_000,
)

requires('bash').test(
  'the step with GitHub calls the allowed host with the stored token, and the policy refuses a change',
  async () => {
    const host = 'api.github.com'
    const stage = await openStage({ names: [host] })
    const ada = await openAccount(stage.app, 'ada@github.example')
    await ada.must('init', 'payments')
    await ada.must('agent', 'create', 'deploy-bot', '--save')
    const token = marked('ghp_0123456789')
    const lines = linesOf('docs/start/first-call.md', 'github').map((line) =>
      line.replace(host, stage.authorityOf(host)),
    )
    const ran: { code: number; screen: string }[] = []
    for (const line of lines)
      ran.push(await ada.type(line, [{ when: 'Value of GITHUB_TOKEN', type: `${token}\r` }]))
    expect(ran.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    const changed = await ada.type(`${lines.at(-1)} -X POST`)
    expect([changed.code, changed.screen]).toEqual([5, expect.stringContaining('policy_blocked')])
    const received = stage.upstream.received.map((request) => [
      ...[request.method, request.path, request.header('authorization')],
    ])
    expect(received).toEqual([['GET', '/user', `Bearer ${token}`]])
    ada.remove()
    await stage.stop()
  },
  60_000,
)

/** The text without addresses, numbers and fingerprints, which differ each time. */
function shapeOf(text: string): string {
  return text
    .replace(/127\.0\.0\.1:\d+/g, 'address')
    .replace(/\d+ characters/, 'characters')
    .replace(/SHA-256 [\da-f]*…?/g, 'SHA-256')
}

function jsonIn(screen: string): unknown {
  return JSON.parse(/^\{.*\}/m.exec(screen)?.[0] ?? 'null')
}

test('every script and command that the README or CONTRIBUTING names exists', async () => {
  const { scripts } = await Bun.file(join(ROOT, 'package.json')).json()
  const named = `${readme}${textOf('CONTRIBUTING.md')}`.matchAll(/bun(?:@[\d.]+)? run ([\w:-]+)/g)
  for (const [, name = ''] of named) expect(Object.keys(scripts)).toContain(name)
  const known = [
    'help',
    'keygen',
    'settings',
    'serve',
    'secrets',
    'allowlist',
    'agent',
    'audit',
    ...topLevel.map(({ usage }) => usage.split(' ')[0]),
  ]
  for (const [, name = ''] of readme.matchAll(/(?:^|`)cloakroom ([a-z-]+)/gm))
    expect(known).toContain(name)
})
