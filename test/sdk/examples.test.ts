// tier: all
/**
 * Runs each example of docs/guides/sdks.md as a separate program with the real SDK. The program has two variables, and
 * the API receives the credential.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { curl, githubActions, gitlabCi, sdks } from '../../src/client/agents/set_up_texts.ts'
import { openAccount } from '../cli/person.ts'
import { blocksOf, linesOf } from '../docs/blocks.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { commandLinesIn } from '../support/command_lines.ts'
import { newestRecord } from '../support/forward.ts'
import { otherPackages } from '../support/other_programs.ts'
import { requires } from '../support/requires.ts'
import { answerOf, type Script } from '../support/upstream.ts'
import { watched } from '../support/watched.ts'

const ROOT = join(import.meta.dir, '..', '..')
const HOSTS = ['api.openai.com', 'api.anthropic.com', 'api.github.com', 'api.stripe.com']
const KEYS = {
  OPENAI_KEY: marked('sk-proj-0123456789abcdef'),
  ANTHROPIC_KEY: marked('sk-ant-0123456789abcdef'),
  GITHUB_TOKEN: marked('ghp_0123456789abcdef'),
  STRIPE_KEY: marked('sk_live_0123456789abcdef'),
}
const examples = new Map(
  blocksOf('docs/guides/sdks.md').flatMap((block) => (block.name ? [[block.name, block]] : [])),
)
/** The program that runs a text. Debian's Python has requests. */
const programs: Record<string, string[]> = {
  ts: [process.execPath, '-e'],
  py: ['/usr/bin/python3', '-c'],
  sh: ['sh', '-ec'],
}

let stage: Stage
let agent: Agent

beforeAll(async () => {
  await otherPackages()
  const fixed = HOSTS.map((host) => `${host}=127.0.0.1`).join(',')
  stage = await openStage({ env: { RESOLVER_HOSTS: fixed }, names: HOSTS })
  agent = await createAgentWithToken(stage, {
    secrets: KEYS,
    domains: HOSTS.map((host) => stage.authorityOf(host)),
  })
}, 60_000)
afterAll(() => stage.stop())
afterEach(() => {
  stage.upstream.received.length = 0
})

type Run = { out: string; err: string; code: number }

/** The output of the example. */
async function run(name: string, env: Record<string, string> = {}): Promise<Run> {
  const { language, text } = examples.get(name) ?? { language: '', text: '' }
  if (language !== 'sh') expect(text.trim().split('\n').length).toBe(5)
  return runText(programs[language] ?? [], text, {
    SERVICE_RESOLVER_URL: stage.app.resolver,
    ...env,
  })
}

/** The upstream of the test has its own port; nothing else is changed. */
async function runText(program: string[], text: string, env: Record<string, string>): Promise<Run> {
  const code = HOSTS.reduce(
    (given, host) =>
      given.replaceAll(
        new RegExp(`(/v1/forward/|"https://)${host}`, 'g'),
        (_, before) => `${before}${stage.authorityOf(host)}`,
      ),
    text,
  )
  const child = watched(
    Bun.spawn([...program, code], {
      // The SDKs are installed in this folder.
      cwd: join(ROOT, 'test'),
      env: { PATH: process.env.PATH ?? '', SERVICE_TOKEN: agent.token, ...env },
      stderr: 'pipe',
    }),
  )
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { out, err, code: await child.exited }
}

async function expectPrinted(name: string, out: string): Promise<void> {
  expect(await run(name)).toEqual({ out, err: '', code: 0 })
}

const json = (body: object, headers: Record<string, string> = {}) =>
  answerOf(200, { 'content-type': 'application/json', ...headers }, JSON.stringify(body))

/** Pauses between events, because only real time puts them into separate packets to another process. */
function events(list: readonly (readonly [name: string | null, data: unknown])[]): Script {
  return async (_, wire) => {
    wire.write(
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    for (const [name, data] of list) {
      const event = `${name ? `event: ${name}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
      wire.write(`${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`)
      // Each event arrives alone, as a model's do.
      await Bun.sleep(20)
    }
    wire.write('0\r\n\r\n')
  }
}

/** The credential arrived in this header, the token nowhere, and the record names the used secret. */
async function expectCredential(header: string, value: string, name: string, host: string) {
  for (const request of stage.upstream.received) {
    expect(request.header(header)).toBe(value)
    expect(request.header('host')).toBe(stage.authorityOf(host))
    expect(JSON.stringify(request.headers)).not.toContain('svc_')
  }
  expect(await newestRecord(stage)).toMatchObject({
    decision: 'allowed',
    status_code: 200,
    credential_ref: name,
    target_domain: host,
  })
}

const COMPLETION = json({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-5',
  choices: [
    { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello, you.' } },
  ],
})

test('openai: a chat completion', async () => {
  stage.upstream.on('/v1/chat/completions', COMPLETION)
  await expectPrinted('openai', 'Hello, you.\n')
  const [received] = stage.upstream.received
  expect(JSON.parse(Buffer.from(received?.body ?? []).toString())).toEqual({
    model: 'gpt-5',
    messages: [{ role: 'user', content: 'Hello' }],
  })
  await expectCredential(
    'authorization',
    `Bearer ${KEYS.OPENAI_KEY}`,
    'OPENAI_KEY',
    'api.openai.com',
  )
})

test('the token of the page calls OpenAI with its secret, and cannot use another one', async () => {
  stage.upstream.on('/v1/chat/completions', COMPLETION)
  const ada = await openAccount(stage.app, 'ada@sdk.example')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', ...Object.entries(KEYS).map((pair) => pair.join('=')))
  await ada.must('agent', 'create', 'my-agent')
  const lines = linesOf('docs/guides/sdks.md', 'token').map((line) =>
    line.replace('api.openai.com', stage.authorityOf('api.openai.com')),
  )
  const [allow = [], issue = []] = lines.flatMap(commandLinesIn)
  await ada.must(...allow)
  const { token } = (await ada.json(...issue)) as { token: string }
  ada.remove()
  const env = { SERVICE_TOKEN: token }
  expect(await run('openai', env)).toEqual({ out: 'Hello, you.\n', err: '', code: 0 })
  expect(stage.upstream.received.map(({ header }) => header('authorization'))).toEqual([
    `Bearer ${KEYS.OPENAI_KEY}`,
  ])
  expect((await run('github', env)).err).toContain('does not allow the host api.github.com')
  expect(stage.upstream.received).toHaveLength(1)
})

test('openai: a streamed chat completion', async () => {
  const delta = (content: string) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  })
  stage.upstream.on(
    '/v1/chat/completions',
    events([
      [null, delta('Hel')],
      [null, delta('lo.')],
      [null, delta(KEYS.OPENAI_KEY)],
      [null, '[DONE]'],
    ]),
  )
  await expectPrinted('openai-streamed', 'Hel\nlo.\nSVC_SECRET_OPENAI_KEY\n')
  await expectCredential(
    'authorization',
    `Bearer ${KEYS.OPENAI_KEY}`,
    'OPENAI_KEY',
    'api.openai.com',
  )
})

test('anthropic: a streamed message', async () => {
  const delta = (text: string) =>
    [
      'content_block_delta',
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    ] as const
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5-5',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  stage.upstream.on(
    '/v1/messages',
    events([
      ['message_start', { type: 'message_start', message }],
      [
        'content_block_start',
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ],
      delta('Hel'),
      ['ping', { type: 'ping' }],
      delta('lo.'),
      ['content_block_stop', { type: 'content_block_stop', index: 0 }],
      [
        'message_delta',
        {
          type: 'message_delta',
          delta: { stop_reason: 'end_turn', stop_sequence: null },
          usage: { output_tokens: 2 },
        },
      ],
      ['message_stop', { type: 'message_stop' }],
    ]),
  )
  await expectPrinted('anthropic', 'Hel\nlo.\n')
  await expectCredential(
    'authorization',
    `Bearer ${KEYS.ANTHROPIC_KEY}`,
    'ANTHROPIC_KEY',
    'api.anthropic.com',
  )
})

test('github: a list of several pages', async () => {
  stage.upstream.on('/orgs/acme/repos', (request, wire) => {
    const page = Number(new URL(request.path, 'https://x').searchParams.get('page') ?? 1)
    const next = `<${stage.url(`/orgs/acme/repos?page=${page + 1}`, 'api.github.com')}>; rel="next"`
    wire.write(json([{ name: `repo-${page}` }], page < 3 ? { link: next } : {}))
  })
  await expectPrinted('github', 'repo-1 repo-2 repo-3\n')
  expect(stage.upstream.received.length).toBe(3)
  await expectCredential(
    'authorization',
    `token ${KEYS.GITHUB_TOKEN}`,
    'GITHUB_TOKEN',
    'api.github.com',
  )
})

test('stripe: a charge, as a form', async () => {
  stage.upstream.on('/v1/charges', json({ id: 'ch_1', object: 'charge' }))
  await expectPrinted('stripe', 'ch_1\n')
  const [received] = stage.upstream.received
  expect(received?.method).toBe('POST')
  expect(Buffer.from(received?.body ?? []).toString()).toBe(
    'amount=1999&currency=eur&source=tok_visa',
  )
  await expectCredential(
    'authorization',
    `Bearer ${KEYS.STRIPE_KEY}`,
    'STRIPE_KEY',
    'api.stripe.com',
  )
})

const ADA = json({ login: 'ada' })

for (const [name, kit] of [
  ['requests', requires('python-requests')],
  ['fetch', requires()],
] as const)
  kit.test(`${name} calls an API in forward mode`, async () => {
    stage.upstream.on('/user', ADA)
    await expectPrinted(name, 'ada\n')
    await expectCredential(
      'authorization',
      `Bearer ${KEYS.GITHUB_TOKEN}`,
      'GITHUB_TOKEN',
      'api.github.com',
    )
  })

/** The result of the call by `/v1/resolve`. */
async function expectResolved({ out, err, code }: Run) {
  expect({ err, code }).toEqual({ err: '', code: 0 })
  expect(JSON.parse(out)).toMatchObject({ status_code: 200 })
  await expectCredential(
    'authorization',
    `Bearer ${KEYS.GITHUB_TOKEN}`,
    'GITHUB_TOKEN',
    'api.github.com',
  )
}

requires('curl').test('curl sends a call as one document', async () => {
  stage.upstream.on('/user', ADA)
  await expectResolved(await run('curl'))
})

type Step = { env: Record<string, string>; run: string }
type Workflow = { jobs: { deploy: { steps: Step[] } } }
type Job = { deploy: { variables: Record<string, string>; script: string[] } }

requires('bash', 'curl').test(
  'a GitHub or GitLab job with a token that cannot read calls through the resolver',
  async () => {
    stage.upstream.on('/user', ADA)
    const addresses = { server: stage.app.controlPlane, resolver: stage.app.resolver }
    const [step] = (Bun.YAML.parse(githubActions(addresses, false)) as Workflow).jobs.deploy.steps
    const { SERVICE_TOKEN, ...env } = step?.env ?? {}
    expect(SERVICE_TOKEN).toContain('secrets.SERVICE_TOKEN')
    await expectResolved(await runText(['bash', '-eo', 'pipefail', '-c'], step?.run ?? '', env))
    const { variables, script } = (Bun.YAML.parse(gitlabCi(addresses, false)) as Job).deploy
    await expectResolved(await runText(['sh', '-ec'], script.join('\n'), variables))
  },
)

test('the console shows the same SDK examples as the page', () => {
  expect(examples.get('curl')?.text).toBe(curl)
  for (const { id, text } of sdks) expect(examples.get(id)?.text).toBe(text)
})

test('an error of the API is the SDK’s error, with the API’s own request ID', async () => {
  stage.upstream.on(
    '/v1/chat/completions',
    answerOf(
      400,
      { 'content-type': 'application/json', 'x-request-id': 'req_of_openai' },
      `{"error":{"message":"bad key ${KEYS.OPENAI_KEY}","type":"invalid_request_error","code":"bad"}}`,
    ),
  )
  const { err, code } = await run('openai')
  expect(code).toBe(1)
  expect(err).toContain('400 bad key SVC_SECRET_OPENAI_KEY')
  expect(err).toContain('req_of_openai')
})

test('every example of the page has a test, with the published SDK', () => {
  expect([...examples.keys()]).toEqual([
    'token',
    'openai',
    'openai-streamed',
    'anthropic',
    'github',
    'stripe',
    'requests',
    'fetch',
    'curl',
  ])
  const packages = [
    import.meta.resolve('openai'),
    import.meta.resolve('@anthropic-ai/sdk'),
    import.meta.resolve('@octokit/rest'),
    import.meta.resolve('stripe'),
  ]
  const imported = new Set(
    [...examples.values()].flatMap(({ text }) =>
      [...text.matchAll(/ from '([^']+)'/g)].map(([, name = '']) => import.meta.resolve(name)),
    ),
  )
  expect(imported).toEqual(new Set(packages))
})
