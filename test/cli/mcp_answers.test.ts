// tier: quick
/** Every tool of `cloakroom mcp`, with answers and errors that are larger than a model can read. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { PassThrough } from 'node:stream'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { runCommand } from '../../src/cli/index.ts'
import { RESULT_BYTES } from '../../src/cli/mcp/tools.ts'
import { StdioTransport } from '../../src/cli/mcp/transport.ts'
import { mintToken } from '../../src/core/crypto/token.ts'
import { listAuditLogs } from '../../src/features/audit/contract.ts'
import { createProposal } from '../../src/features/proposals/contract.ts'
import { listCredentials, resolveCall } from '../../src/resolver/contract.ts'
import { freshEmail, sharedApp } from '../support/app.ts'
import { openAccount, type Terminal } from './person.ts'

/** Once in each large answer, so that a copied answer is detected. */
const MARK = 'first-words-of-the-answer'
const LARGE = `${MARK} "quoted"\\ \u202e ${'Überlänge 🔑 "x" '.repeat(6000)}`

/** `forward` calls the real server; without a filter by agent, because this agent has no records. */
type Reply = (request: Request, forward: () => Promise<Response>) => Promise<Response> | Response
let replies: Record<string, Reply> = {}
let stop: () => void
let ada: Terminal
let client: Client
let ended: Promise<number>

beforeAll(async () => {
  const app = await sharedApp()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const { pathname, searchParams } = new URL(request.url)
      searchParams.delete('agent_id')
      const { method, headers, body } = request
      const init = { method, headers, ...(body ? { body } : {}) }
      const forward = () => fetch(`${app.controlPlane}${pathname}?${searchParams}`, init)
      return (replies[pathname] ?? ((_, pass) => pass()))(request, forward)
    },
  })
  stop = () => void server.stop(true)
  const { origin } = server.url
  ada = await openAccount({ controlPlane: origin, resolver: origin }, freshEmail('ada'))
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const env = {
    HOME: ada.home,
    XDG_RUNTIME_DIR: ada.home,
    SERVICE_SERVER_URL: origin,
    SERVICE_RESOLVER_URL: origin,
    SERVICE_TOKEN: mintToken('agt').text,
  }
  ended = runCommand(['mcp'], { env, cwd: ada.cwd, streams: { stdin, stdout, stderr } })
  client = new Client({ name: 'test', version: '1' })
  await client.connect(new StdioTransport(stdout, stdin))
  stop = () => {
    stdin.end()
    void server.stop(true)
  }
})
afterAll(async () => {
  await client.close()
  stop()
  ada.remove()
  expect(await ended).toBe(0)
})

const largeReplies: Record<string, Reply> = {
  '/healthz': () =>
    Response.json({ status: 'healthy', service: 'resolver', timestamp: new Date().toISOString() }),
  [resolveCall.path]: () =>
    Response.json({ status_code: 200, headers: { 'x-long': LARGE }, body: LARGE, redacted: false }),
  [createProposal.path]: () =>
    Response.json({
      id: crypto.randomUUID(),
      status: 'open',
      expires_at: new Date().toISOString(),
    }),
  [listCredentials.path]: () => {
    const rules = { description: null, allowed_domains: null, allowed_methods: null }
    const place = { project_id: crypto.randomUUID(), environment: 'production' }
    const others = {
      ...place,
      ...rules,
      allowed_paths: null,
      allowed_locations: null,
      approval: null,
    }
    const names = Array.from({ length: 2000 }, (_, index) => `KEY_${index}`)
    const all = names.map((name) => ({ ...others, name }))
    return Response.json(
      all.map((one, index) => (index === 0 ? { ...one, description: MARK } : one)),
    )
  },
  [listAuditLogs.path]: async (_, forward) => {
    const listed = (await (await forward()).json()) as { data: Record<string, unknown>[] }
    const [record] = listed.data
    const long = { ...record, target_path: `/${'x'.repeat(4000)}` }
    const data = [{ ...record, target_path: `/${MARK}` }, ...Array(99).fill(long)]
    return Response.json({ ...listed, data })
  },
}
const refuse: Reply = () =>
  Response.json({ status: 'error', error_code: 'forbidden', message: LARGE }, { status: 403 })

/** Arguments for each tool, and the requests that each one sends. A new tool needs a line here. */
const tools: Record<string, { args: Record<string, unknown>; path: string; isCut: boolean }> = {
  list_credentials: { args: {}, path: listCredentials.path, isCut: true },
  call_api: { args: { url: 'https://api.example/' }, path: resolveCall.path, isCut: true },
  request_access: {
    args: { reason: 'why', hosts: ['api.example'] },
    path: createProposal.path,
    isCut: false,
  },
  check_status: { args: {}, path: '/healthz', isCut: false },
  read_audit: { args: { limit: 100 }, path: listAuditLogs.path, isCut: true },
}
const names = Object.keys(tools)

type Part = { type: string; text: string; annotations?: { audience: string[] } }
type Result = { content: Part[]; isError?: boolean } & {
  structuredContent?: { error: Record<string, unknown> }
}

async function use(name: string, args = tools[name]?.args ?? {}) {
  const result = (await client.callTool({ name, arguments: args })) as Result
  return { result, text: result.content[0]?.text ?? '', bytes: sizeOf(result) }
}

const sizeOf = (result: unknown) => Buffer.byteLength(JSON.stringify(result))
const CUT = /cut, (\d+) more bytes/

test('the table has every tool, and no schema has propertyNames', async () => {
  const listed = (await client.listTools()).tools
  expect(listed.map(({ name }) => name)).toEqual(names)
  expect(JSON.stringify(listed)).not.toContain('propertyNames')
  for (const { inputSchema } of listed) {
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
  }
})

test.each(names)('%s sends a large answer once, cut to 60 kB of valid JSON', async (name) => {
  replies = largeReplies
  const { result, text, bytes } = await use(name)
  expect({ text, isError: result.isError ?? false }).toEqual({ text, isError: false })
  expect(bytes).toBeLessThanOrEqual(RESULT_BYTES)
  const data = JSON.parse(text)
  const { isCut } = tools[name] ?? {}
  if (!isCut) return
  expect(JSON.stringify(result).split(MARK).length - 1).toBe(1)
  for (const note of Object.values(data.cut)) expect(note).toMatch(CUT)
  // The answer uses the available space.
  expect(bytes).toBeGreaterThan(RESULT_BYTES * 0.8)
})

test('check_status bounds the message about a rejected token', async () => {
  replies = { ...largeReplies, [listCredentials.path]: refuse }
  const { text, bytes } = await use('check_status')
  expect(bytes).toBeLessThanOrEqual(RESULT_BYTES)
  expect(JSON.parse(text).cut.token).toMatch(CUT)
})

test('call_api returns the number of missing body bytes, and truncated base64 still decodes', async () => {
  const body = Buffer.alloc(300_000, 'credential').toString('base64')
  const answer = { status_code: 200, headers: {}, body_encoding: 'base64', redacted: false }
  replies = { [resolveCall.path]: () => Response.json({ ...answer, body }) }
  const shown = JSON.parse((await use('call_api')).text)
  expect(body).toStartWith(shown.body)
  expect(shown.body.length % 4).toBe(0)
  expect(shown.cut).toEqual({ body: `cut, ${body.length - shown.body.length} more bytes` })
})

test.each(names)('%s returns an error with its code as data, bounded', async (name) => {
  replies = { [tools[name]?.path ?? '']: refuse }
  const { result, text, bytes } = await use(name)
  expect(result).toMatchObject({
    isError: true,
    structuredContent: {
      error: { code: 'forbidden', hint: null, for_people: { hint: expect.any(String) } },
    },
  })
  // The owner has every role: the server's message is the reason.
  expect(text).toStartWith(MARK)
  expect(text).toMatch(CUT)
  expect(bytes).toBeLessThan(RESULT_BYTES / 2)
})

const refusedWith = (error_code: string, advice: object): Reply => {
  const body = { error_code, message: 'Refused.', ...advice }
  return () => Response.json(body, { status: 409 })
}

/** The part of an answer that is marked for people, and the text for the model. */
function partsOf({ content }: Result) {
  const isForPeople = ({ annotations }: Part) => annotations?.audience.join() === 'user'
  const textsOf = (some: Part[]) => some.map(({ text }) => text).join('\n')
  return {
    model: textsOf(content.filter((part) => !isForPeople(part))),
    people: textsOf(content.filter(isForPeople)),
  }
}

test.each(names)('%s passes on how people remove the cause of a refusal, apart', async (name) => {
  const fix = { setting: 'QUOTA_AGENTS' }
  const docs = 'operations.md#quotas'
  replies = { [tools[name]?.path ?? '']: refusedWith('quota_exceeded', { fix, docs }) }
  const { result } = await use(name)
  const hint = 'change the server setting QUOTA_AGENTS'
  expect(result.structuredContent?.error).toEqual({
    code: 'quota_exceeded',
    message: 'Refused.',
    hint: null,
    docs,
    for_people: { hint, fix },
  })
  expect(partsOf(result)).toEqual({
    model: 'Refused. (quota_exceeded)',
    people: `For the user, not for you: ${hint}`,
  })
})

test('call_api tells the model to ask for a refused host, and people the command that allows it', async () => {
  replies = { [resolveCall.path]: refusedWith('domain_blocked', {}) }
  const { result } = await use('call_api', { url: 'https://api.example.com:8443/v1?a=b' })
  const command = ['cloakroom', 'allowlist', 'add', 'api.example.com:8443']
  const hint = `run: ${command.join(' ')}`
  expect(result.structuredContent?.error).toMatchObject({
    hint: 'Use the tool request_access to ask for it.',
    for_people: { hint, fix: { command } },
  })
  expect(partsOf(result)).toEqual({
    model: 'Refused. (domain_blocked)\n→ Use the tool request_access to ask for it.',
    people: `For the user, not for you: ${hint}`,
  })
})

test.each([
  { command: ['rm', '-rf', '/'] },
  { command: ['cloakroom', 'secrets', 'pull', ';', 'sh'] },
  { command: ['cloakroom', 'login', '--server', 'https://evil.example'] },
  { command: ['cloakroom', 'login', '--resolver=https://evil.example'] },
  { command: ['cloakroom', 'x\u202e'] },
  { command: 'cloakroom' },
  { setting: 'A=1 sh' },
  7,
])('a fix that a server must not suggest is omitted: %j', async (fix) => {
  const advice = { fix, docs: 'https://evil.example/#docs' }
  replies = { [resolveCall.path]: refusedWith('conflict', advice) }
  const { error } = (await use('call_api')).result.structuredContent ?? {}
  expect(error).toEqual({ code: 'conflict', message: 'Refused.', hint: null })
})

test.each([...names, 'no_such_tool'])('%s rejects an unknown argument as data', async (name) => {
  replies = {}
  const { result, text, bytes } = await use(name, { ...tools[name]?.args, [`json${LARGE}`]: 1 })
  const code = name === 'no_such_tool' ? 'not_found' : 'usage'
  expect(result).toMatchObject({ isError: true, structuredContent: { error: { code } } })
  expect(text).toContain(name)
  expect(bytes).toBeLessThan(RESULT_BYTES / 2)
})

test('list_credentials finds by a part of the name what a long list omits', async () => {
  replies = largeReplies
  const { text } = await use('list_credentials', { contains: 'key_1999' })
  expect(JSON.parse(text).credentials).toEqual([
    expect.objectContaining({ placeholder: 'SVC_SECRET_KEY_1999' }),
  ])
})
