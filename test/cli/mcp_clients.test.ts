// tier: all
/** `cloakroom mcp` with other vendors' clients, which start the executable: the inspector, and the Python client. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { faultDocs } from '../../src/http/advice.ts'
import { executable } from '../binary/executable.ts'
import { openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { otherPackages, otherPython } from '../support/other_programs.ts'
import { answerOf } from '../support/upstream.ts'
import { watched } from '../support/watched.ts'
import { openAccount, type Terminal } from './person.ts'

const VALUE = marked('sk_live_mcp_not_real')
const INSPECTOR = '@modelcontextprotocol/inspector'
const TOOLS = ['list_credentials', 'call_api', 'request_access', 'check_status']
const REFUSED =
  'elsewhere.example:443 is not on the allowlist of the workspace. (domain_blocked)\n' +
  '→ Use the tool request_access to ask for it.'
const FOR_PEOPLE = 'For the user, not for you: run: cloakroom allowlist add elsewhere.example'

let stage: Stage
let ada: Terminal
let env: Record<string, string>
let credentials: Record<string, unknown>

beforeAll(async () => {
  stage = await openStage()
  ada = await openAccount(stage.app, 'ada@example.com')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `STRIPE_KEY=${VALUE}`)
  await ada.must('allowlist', 'add', stage.authorityOf())
  const { token } = (await ada.json('agent', 'create', 'bot')) as { token: string }
  env = {
    // This machine has no session.
    HOME: ada.cwd,
    XDG_RUNTIME_DIR: ada.cwd,
    SERVICE_TOKEN: token,
    SERVICE_SERVER_URL: stage.app.controlPlane,
    SERVICE_RESOLVER_URL: stage.app.resolver,
  }
  credentials = {
    credentials: [expect.objectContaining({ placeholder: 'SVC_SECRET_STRIPE_KEY' })],
  }
  stage.upstream.on('/echo', (request, wire) => {
    wire.write(answerOf(200, { 'content-type': 'text/plain' }, `got ${request.header('x-key')}`))
  })
})
afterAll(async () => {
  ada.remove()
  await stage.stop()
})

const echoed = {
  status_code: 200,
  headers: { 'content-type': 'text/plain' },
  body: 'got SVC_SECRET_STRIPE_KEY',
  redacted: true,
}

/** A call that the upstream holds open, and the end of its connection. */
function held(path: string) {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  stage.upstream.on(path, (_, wire) => {
    wire.once('close', () => ended.resolve())
    begun.resolve()
  })
  return { url: stage.url(path), begun: begun.promise, ended: ended.promise }
}

async function startInspector(...args: string[]) {
  const folder = await otherPackages()
  if (folder === null) return null
  const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`])
  const launcher = join(folder, INSPECTOR, 'clients', 'launcher', 'build', 'index.js')
  const started = [process.execPath, launcher, '--cli', await executable(), 'mcp', ...variables]
  return watched(
    Bun.spawn([...started, '--protocol-era', 'auto', '--quiet', '--format', 'json', ...args], {
      cwd: ada.cwd,
      env: { HOME: ada.home, PATH: process.env.PATH ?? '' },
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
}

async function inspect(...args: string[]) {
  const program = await startInspector(...args)
  if (program === null) return null
  const [out, err, code] = await Promise.all([
    new Response(program.stdout).text(),
    new Response(program.stderr).text(),
    program.exited,
  ])
  return { code, err, out: JSON.parse(out) }
}

const call = (tool: string, args: unknown) => [
  ...['--method', 'tools/call', '--tool-name', tool],
  ...['--tool-args-json', JSON.stringify(args)],
]

test('the inspector reports no problem in the tools', async () => {
  const ran = await inspect('--method', 'tools/list', '--strict')
  if (ran === null) return
  const { code, err, out } = ran
  const tools = out.result.tools.map(({ name }: { name: string }) => name)
  expect({ code, err, tools }).toEqual({ code: 0, err: '', tools: TOOLS })
})

const textOf = (data: unknown) => [{ type: 'text', text: JSON.stringify(data) }]
const refusal = {
  error: {
    code: 'domain_blocked',
    message: expect.any(String),
    hint: 'Use the tool request_access to ask for it.',
    docs: faultDocs.domain_blocked,
    for_people: {
      hint: 'run: cloakroom allowlist add elsewhere.example',
      fix: { command: ['cloakroom', 'allowlist', 'add', 'elsewhere.example'] },
    },
  },
}

test('the inspector prints answers as text, and an error with its code as data', async () => {
  const listed = await inspect(...call('list_credentials', {}))
  if (listed === null) return
  expect(listed.code).toBe(0)
  expect(JSON.parse(listed.out.result.content[0].text)).toEqual(credentials)
  const headers = { 'X-Key': 'SVC_SECRET_STRIPE_KEY' }
  const made = await inspect(...call('call_api', { url: stage.url('/echo'), headers }))
  expect(made).toMatchObject({ code: 0, out: { result: { content: textOf(echoed) } } })
  const refused = await inspect(...call('call_api', { url: 'https://elsewhere.example/' }))
  // 5: the tool's own error.
  const content = [
    { type: 'text', text: REFUSED },
    { type: 'text', text: FOR_PEOPLE, annotations: { audience: ['user'] } },
  ]
  const result = { content, structuredContent: refusal, isError: true }
  expect(refused).toMatchObject({ code: 5, out: { result } })
})

test('an inspector that is interrupted ends its call at the upstream', async () => {
  const { url, begun, ended } = held('/inspected')
  const program = await startInspector(...call('call_api', { url }))
  if (program === null) return
  await begun
  program.kill('SIGINT')
  await ended
  await program.exited
})

test('the Python client lists, calls, reads an error with its code, and cancels', async () => {
  const python = await otherPython()
  if (python === null) return
  const { url, begun, ended } = held('/held')
  const script = join(import.meta.dir, 'mcp_client.py')
  const program = watched(
    Bun.spawn([python, script, await executable(), stage.url('/echo'), url, JSON.stringify(env)], {
      cwd: ada.cwd,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  const said = new Response(program.stdout).text()
  const failed = new Response(program.stderr).text()
  await Promise.race([begun, program.exited])
  program.stdin.write('cancel\n')
  program.stdin.flush()
  await Promise.race([ended, program.exited])
  program.stdin.write('go on\n')
  await program.stdin.end()
  const code = await program.exited
  expect({ code, failed: await failed }).toMatchObject({ code: 0 })
  const lines = (await said)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map((line) => (line.is_error === false ? { ...line, text: line.text.map(JSON.parse) } : line))
  const ok = (tool: string, answer: unknown) => {
    return { tool, is_error: false, text: [answer], data: null }
  }
  expect(lines).toEqual([
    { tools: TOOLS },
    ok('list_credentials', credentials),
    ok('call_api', echoed),
    { tool: 'call_api', is_error: true, text: [REFUSED, FOR_PEOPLE], data: refusal },
    ok('check_status', { resolver: 'healthy', token: 'accepted', credentials: 1 }),
  ])
})
