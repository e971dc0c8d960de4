// tier: all
/** `cloakroom mcp` the way a client uses it: the executable, over the pipes of a process. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { executable } from '../binary/executable.ts'
import { openStage, type Stage } from '../support/agent.ts'
import { marked, search, searcher } from '../support/canary.ts'
import { answerOf } from '../support/upstream.ts'
import { watched } from '../support/watched.ts'
import { openAccount, type Terminal } from './person.ts'

const VALUE = marked('sk_live_mcp_not_real')

let stage: Stage
let ada: Terminal
let client: Client
let token: string

beforeAll(async () => {
  stage = await openStage()
  ada = await openAccount(stage.app, 'ada@example.com')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `STRIPE_KEY=${VALUE}`, 'MODE=live_mode')
  await ada.must('allowlist', 'add', stage.authorityOf())
  token = ((await ada.json('agent', 'create', 'bot')) as { token: string }).token
  client = await connect(token)
})
afterAll(async () => {
  await client.close()
  ada.remove()
  await stage.stop()
})

async function connect(
  SERVICE_TOKEN: string,
  HOME = ada.home,
  resolver = stage.app.resolver,
): Promise<Client> {
  const connected = new Client({ name: 'test', version: '1' })
  const env = {
    HOME,
    PATH: process.env.PATH ?? '',
    SERVICE_TOKEN,
    SERVICE_SERVER_URL: stage.app.controlPlane,
    SERVICE_RESOLVER_URL: resolver,
  }
  const transport = new StdioClientTransport({
    command: await executable(),
    args: ['mcp'],
    env,
    cwd: ada.cwd,
    stderr: 'pipe',
  })
  transport.stderr?.on('data', searcher('output', 'stderr of mcp'))
  await connected.connect(transport)
  return connected
}

type Content = { type: string; text: string }[]

async function use(name: string, args: Record<string, unknown> = {}, who = client) {
  const { content, isError } = await who.callTool({ name, arguments: args })
  const [{ text }, ...others] = content as [Content[number], ...Content]
  search('output', `the tool ${name}`, [text, ...others.map((part) => part.text)].join('\n'))
  return { text, isError: isError === true }
}

test('there are five tools, and none returns a value', async () => {
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    'list_credentials',
    'call_api',
    'request_access',
    'check_status',
    'read_audit',
  ])
})

test('read_audit is not offered if the user is not signed in', async () => {
  const elsewhere = await connect(token, ada.cwd)
  const { tools } = await elsewhere.listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    'list_credentials',
    'call_api',
    'request_access',
    'check_status',
  ])
  expect(JSON.parse((await use('check_status', {}, elsewhere)).text).token).toBe('accepted')
  await elsewhere.close()
})

test('list_credentials returns names and their purposes, without a delivery', async () => {
  const { text } = await use('list_credentials')
  const unbound = {
    project_id: expect.any(String),
    environment: 'development',
    description: null,
    allowed_domains: null,
    allowed_methods: null,
    allowed_paths: null,
    allowed_locations: null,
    allowed_operations: null,
    read_only: null,
    approval: null,
  }
  expect(JSON.parse(text).credentials).toEqual([
    { placeholder: 'SVC_SECRET_MODE', ...unbound },
    { placeholder: 'SVC_SECRET_STRIPE_KEY', ...unbound },
  ])
  const { sql } = stage.app.connection
  await stage.app.flushAudit()
  expect(
    await sql`select action, credential_ref from audit_logs where source = 'resolver'`,
  ).toEqual([{ action: 'credentials.listed', credential_ref: null }] as never)
})

test('call_api sends the credential and returns it redacted', async () => {
  stage.upstream.on('/echo', (request, wire) => {
    wire.write(answerOf(200, { 'content-type': 'text/plain' }, `got ${request.header('x-key')}`))
  })
  const { text } = await use('call_api', {
    url: stage.url('/echo'),
    headers: { 'X-Key': 'SVC_SECRET_STRIPE_KEY' },
  })
  expect(JSON.parse(text)).toEqual({
    status_code: 200,
    headers: { 'content-type': 'text/plain' },
    body: 'got SVC_SECRET_STRIPE_KEY',
    redacted: true,
  })
  expect(stage.upstream.received.at(-1)?.header('x-key')).toBe(VALUE)
})

test('a rejected call is an error with its code and the tool to use next', async () => {
  expect(await use('call_api', { url: 'https://elsewhere.example/' })).toEqual({
    text:
      'elsewhere.example:443 is not on the allowlist of the workspace. (domain_blocked)\n' +
      '→ Use the tool request_access to ask for it.',
    isError: true,
  })
})

test('check_status returns whether the token is accepted', async () => {
  expect(JSON.parse((await use('check_status')).text)).toEqual({
    resolver: 'healthy',
    token: 'accepted',
    credentials: 2,
  })
  const stranger = await connect(`${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`)
  expect(JSON.parse((await use('check_status', {}, stranger)).text)).toEqual({
    resolver: 'healthy',
    token: expect.stringMatching(/^this token is incomplete or was altered.* \(invalid_token\)$/),
    for_people: expect.stringContaining('copy the whole line'),
  })
  await stranger.close()
})

test('read_audit returns the requests of this token', async () => {
  const { text } = await use('read_audit', { limit: 5 })
  const { records } = JSON.parse(text) as {
    records: { agent_id: string; target_domain: string | null }[]
  }
  expect(records.length).toBeGreaterThan(0)
  expect(new Set(records.map(({ agent_id }) => agent_id))).toEqual(new Set(['bot']))
  expect(text).not.toContain(VALUE)
})

test('list_credentials returns the purpose of a credential, and where and how it may be used', async () => {
  const policy = ['--domains', 'api.stripe.com', '--methods', 'GET,POST', '--paths', '/v1']
  await ada.must('policy', 'set', 'STRIPE_KEY', ...policy, '--description', 'the test account')
  const { text } = await use('list_credentials')
  expect(JSON.parse(text).credentials).toContainEqual({
    placeholder: 'SVC_SECRET_STRIPE_KEY',
    project_id: expect.any(String),
    environment: 'development',
    description: 'the test account',
    allowed_domains: ['api.stripe.com'],
    allowed_methods: ['GET', 'POST'],
    allowed_paths: ['/v1'],
    allowed_locations: null,
    allowed_operations: null,
    read_only: null,
    approval: null,
  })
})

test('each tool has annotations that state what it changes', async () => {
  const { tools } = await client.listTools()
  for (const { name, title, annotations } of tools) {
    expect({ name, title }).toEqual({ name, title: expect.any(String) })
    expect(annotations?.readOnlyHint ?? false).toBe(!['call_api', 'request_access'].includes(name))
  }
  expect(tools.find(({ name }) => name === 'call_api')?.annotations).toEqual({
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  })
})

test('an unknown argument of a tool is rejected, and no request is sent', async () => {
  const before = stage.upstream.received.length
  const { text, isError } = await use('call_api', {
    url: stage.url('/charge'),
    method: 'POST',
    json: { amount: 1 },
  })
  expect({ isError, names: text.includes('json') }).toEqual({ isError: true, names: true })
  expect(stage.upstream.received.length).toBe(before)
})

test('an unreachable resolver is an error with its address and a code', async () => {
  const offline = await connect(token, ada.home, 'http://127.0.0.1:9')
  const { text, isError } = await use('list_credentials', {}, offline)
  expect(isError).toBe(true)
  expect(text).toStartWith('the resolver at http://127.0.0.1:9 cannot be reached (unreachable)')
  await offline.close()
})

/** A call that the upstream holds open, and the end of its connection. */
function held(path: string) {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  stage.upstream.on(path, (_, wire) => {
    wire.once('close', () => ended.resolve())
    begun.resolve()
  })
  return { begun: begun.promise, ended: ended.promise }
}

test('a cancelled call ends at the upstream, and the audit records that its caller disconnected', async () => {
  const { begun, ended } = held('/held')
  const cancel = new AbortController()
  const call = client.callTool(
    { name: 'call_api', arguments: { url: stage.url('/held') } },
    undefined,
    { signal: cancel.signal },
  )
  const outcome = call.catch((error: unknown) => error)
  await begun
  cancel.abort()
  expect(await outcome).toBeInstanceOf(Error)
  await ended
  const { sql } = stage.app.connection
  let record: unknown
  do {
    await stage.app.flushAudit()
    ;[record] = await sql`
      select status_code, reason from audit_logs
      where target_path = '/held' and status_code is not null`
  } while (!record)
  expect(record).toEqual({ status_code: 499, reason: 'caller_gone' })
})

test('a host that disconnects ends the program and its running call', async () => {
  const { begun, ended } = held('/left')
  const other = await connect(token)
  const call = other.callTool({ name: 'call_api', arguments: { url: stage.url('/left') } })
  const outcome = call.catch((error: unknown) => error)
  await begun
  await other.close()
  await outcome
  await ended
})

test.each(['2025-11-25', '2025-06-18', '2025-03-26'])(
  'the server speaks version %s of the protocol',
  async (protocolVersion) => {
    const asked = { jsonrpc: '2.0', id: 1, method: 'initialize' }
    const clientInfo = { name: 'by hand', version: '1' }
    const params = { protocolVersion, capabilities: {}, clientInfo }
    const program = watched(
      Bun.spawn([await executable(), 'mcp'], {
        cwd: ada.cwd,
        env: {
          HOME: ada.cwd,
          SERVICE_TOKEN: token,
          SERVICE_SERVER_URL: stage.app.controlPlane,
          SERVICE_RESOLVER_URL: stage.app.resolver,
        },
        stdin: new Blob([`${JSON.stringify({ ...asked, params })}\n`]),
      }),
    )
    const [line = ''] = (await new Response(program.stdout).text()).split('\n')
    expect(JSON.parse(line).result.protocolVersion).toBe(protocolVersion)
    expect(await program.exited).toBe(0)
  },
)

test('a rejected call names request_access, which asks the members and returns the state', async () => {
  const refused = await use('call_api', { url: 'https://other.example.com/' })
  expect([refused.isError, refused.text]).toEqual([
    true,
    expect.stringContaining('Use the tool request_access to ask for it.'),
  ])
  const asked = { reason: 'Needed for a report', hosts: ['other.example.com'] }
  const first = JSON.parse((await use('request_access', asked)).text)
  expect(first).toEqual({
    id: expect.any(String),
    status: 'open',
    expires_at: expect.any(String),
  })
  expect(JSON.parse((await use('request_access', asked)).text)).toEqual(first)
  const leaking = await use('request_access', { ...asked, reason: `it is ${VALUE}` })
  expect([leaking.isError, leaking.text]).toEqual([
    true,
    expect.stringContaining('must not contain'),
  ])
})
