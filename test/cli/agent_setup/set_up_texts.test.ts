// tier: all
/** The console's set-up texts beside a new token, for programs that start `cloakroom mcp`: typed into a shell. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { programs } from '../../../src/client/agents/agent_setup.ts'
import { commandFor, fileFor, runText, variables } from '../../../src/client/agents/set_up_texts.ts'
import { openStage, type Stage } from '../../support/agent.ts'
import { marked } from '../../support/canary.ts'
import { openAccount, openTerminal, type Terminal } from '../person.ts'

const VALUE = marked('sk_live_')
const MCP_PROGRAMS = Object.entries(programs)
/** A name that a shell would split. */
const BOT = "ada's bot"

let stage: Stage
let ada: Terminal
/** A machine without a session. */
let elsewhere: Terminal
let exported = ''

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
}
const LIST = {
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name: 'list_credentials', arguments: {} },
}

beforeAll(async () => {
  stage = await openStage()
  ada = await openAccount(stage.app, 'ada@example.com')
  elsewhere = await openTerminal(stage.app)
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `STRIPE_KEY=${VALUE}`)
  const { token } = (await ada.json('agent', 'create', BOT)) as { token: string }
  const { controlPlane: server, resolver } = stage.app
  exported = variables({ server, resolver }).replace('SERVICE_TOKEN=', `SERVICE_TOKEN=${token}`)
})
afterAll(async () => {
  ada.remove()
  elsewhere.remove()
  await stage.stop()
})

type File = { [servers: string]: { cloakroom: Entry } }
type Entry = { command: string | [string, ...string[]]; args?: string[] }

/** Starts `cloakroom mcp` the way the program would, with the entry of its file. */
async function namesBy(machine: Terminal, text: string, before = ''): Promise<string> {
  const [{ cloakroom }] = Object.values(JSON.parse(text) as File) as [File[string]]
  const words = [cloakroom.command].flat().concat(cloakroom.args ?? [])
  const line = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const messages = [INITIALIZE, LIST].map((message) => JSON.stringify(message)).join('\n')
  // The end of its input would cancel a running call, so the pipe stays open.
  const { out } = await machine.shell(`${before}
    coproc MCP { ${line}; }
    printf '%s\\n' '${messages}' >&"\${MCP[1]}"
    read -r <&"\${MCP[0]}" && read -r answer <&"\${MCP[0]}"
    echo "$answer"
    kill "$MCP_PID"`)
  return out
}

test.each(MCP_PROGRAMS)(
  'the commands for %s succeed on a machine with a session',
  async (id, program) => {
    const holder = { name: BOT, project: 'payments', environment: 'development' }
    const lines = commandFor(id, holder)
    expect(lines).not.toContain('svc_')
    // The command asks before it writes a file; --yes confirms in advance.
    const done = await ada.shell(`set -e\n${lines.trimEnd()} --yes`)
    expect(done).toMatchObject({ code: 0 })
    const [path = ''] = program.project
    const file = await Bun.file(`${ada.cwd}/${path}`).text()
    if (program.format === 'toml') expect(file).toContain(BOT)
    else expect(await namesBy(ada, file)).toContain('SVC_SECRET_STRIPE_KEY')
  },
)

/** A TOML file passes no variables on, so the console has no text for it. */
const readers = MCP_PROGRAMS.filter(([, { format }]) => format === 'json')

test.each(readers)('the commands for %s succeed on any other machine', async (_, program) => {
  const text = fileFor(program, stage.app.resolver) ?? ''
  expect(await namesBy(elsewhere, text, exported)).toContain('SVC_SECRET_STRIPE_KEY')
})

test('a job with a token that may read starts its program with the values', async () => {
  const args = ['workload-token', 'issue', 'nightly', '-e', 'development']
  const { token } = (await ada.json(...args)) as { token: string }
  const { controlPlane: server, resolver } = stage.app
  const environment = variables({ server, resolver }).replace('TOKEN=', `TOKEN=${token}`)
  elsewhere.write('deploy.sh', '#!/bin/sh\ntest -n "$STRIPE_KEY" && echo deployed\n')
  const { out, code } = await elsewhere.shell(`${environment}chmod +x deploy.sh\n${runText}`)
  expect({ out, code }).toEqual({ out: 'deployed\n', code: 0 })
})
