// tier: quick, both databases in test:all
/**
 * A marked secret is used in everything that may fail, and is found in no place that stores or prints data. The same
 * applies to the tokens and keys around it. (test/support/canary.ts covers the secrets of all other tests.)
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseToken } from '../../src/core/crypto/token.ts'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { formsOf } from '../support/canary.ts'
import {
  databaseKind,
  preparedDatabase,
  sharedCluster,
  type TestDatabase,
} from '../support/database.ts'
import { type ServerProcess, startServer } from '../support/server_process.ts'
import { answerOf } from '../support/upstream.ts'
import { watched } from '../support/watched.ts'

const MARKER = 'CANARY-7f3a9c5e-sk-live'
const BROKEN = `${MARKER}\r\nbroken`

let stage: Stage
let server: ServerProcess
let database: TestDatabase
let agent: Agent
/** The responses that the resolver's caller received. */
const seen: string[] = []

beforeAll(async () => {
  stage = await sharedStage()
  database = await preparedDatabase()
  server = await startServer({
    ...database.env,
    SECRET_KEY: 'canary-secret-key-canary-secret-key',
    ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64url'),
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_CA_FILE: stage.caFile,
    RESOLVER_HOSTS: 'api.upstream.example=127.0.0.1,private.example=10.0.0.1',
  })
  agent = await createAgentWithToken(
    { app: server.app, authorityOf: stage.authorityOf },
    { secrets: { KEY: MARKER, BROKEN } },
  )
  await agent.allow('private.example', 'nowhere.invalid.example', `api.upstream.example:1`)
  await agent.store('NARROW', MARKER, { policy: { allowed_methods: ['DELETE'] } })
})
afterAll(async () => {
  server.kill('SIGKILL')
  await stage.stop()
  database.remove()
})

/** The secret, the secret part of the token, and the client's keys. */
function treasures(): string[] {
  const { secret } = parseToken(agent.token) ?? { secret: new Uint8Array() }
  const { workspaceKey, privateKey } = agent.person
  const raw = [secret, workspaceKey, privateKey].flatMap((bytes) => [
    Buffer.from(bytes).toString('latin1'),
    Buffer.from(bytes).toString('hex'),
    Buffer.from(bytes).toString('base64'),
  ])
  return [
    ...Object.values(formsOf(MARKER)),
    agent.token,
    agent.person.token,
    agent.person.refresh,
    ...raw,
  ]
}

function expectClean(where: string, text: string) {
  const found = treasures().filter((treasure) => text.includes(treasure))
  expect({ where, found }).toEqual({ where, found: [] })
}

async function call(path: string, change: object = {}) {
  const { body } = await agent.resolve({
    target_url: stage.url(path),
    headers: { 'X-Key': 'SVC_SECRET_KEY', Authorization: `Basic ${btoa('me:SVC_SECRET_KEY')}` },
    ...change,
  })
  seen.push(JSON.stringify(body))
}

test('a marked secret is in no answer, log line, file of the database or listing of processes', async () => {
  stage.upstream.on('/echo', (request, wire) => {
    const text = request.headers.flat().join(' ')
    wire.write(answerOf(200, { 'x-echo': text }, text))
  })
  stage.upstream.on('/teapot', (request, wire) => {
    wire.write(answerOf(418, {}, request.headers.flat().join(' ')))
  })
  stage.upstream.on('/garbage', ({ headers }, wire) => void wire.end(headers.flat().join('\r\n')))
  stage.upstream.on('/twice', ({ headers }, wire) => {
    wire.write(`HTTP/1.1 200 X\r\ncontent-length: 1\r\ncontent-length: 2\r\n${headers[0]}\r\n\r\n`)
  })
  stage.upstream.on('/never', () => {})
  stage.upstream.on('/gone', (_, wire) => void wire.destroy())
  await call('/')
  await call('/echo')
  await call('/teapot')
  await call('/garbage', { method: 'POST' })
  await call('/twice')
  await call('/never', { timeout_ms: 100 })
  await call('/gone', { method: 'POST' })
  for (const url of [
    'https://private.example/',
    'https://nowhere.invalid.example/',
    'https://api.upstream.example:1/',
    'https://blocked.example/',
    'not a url',
  ]) {
    await call('', { target_url: url })
  }
  await call('/', { headers: { 'X-Key': 'SVC_SECRET_BROKEN' } })
  await call('/', { headers: { 'X-Key': 'SVC_SECRET_NARROW' } })
  await call('/', { headers: { Host: 'SVC_SECRET_KEY' } })
  // Values that a caller sends in plain text by mistake are not repeated either.
  await call('/', { method: `GET ${MARKER}` })
  // The sender of an unknown field receives its name, and nobody else does.
  await agent.resolve({ target_url: stage.url('/'), [MARKER]: 1 })
  await call('/', { headers: { [`X ${MARKER}`]: '1', 'X-Key': `é${MARKER}` } })
  await call('/', { target_url: `https://${MARKER}:${MARKER}@api.upstream.example/` })
  seen.push(await (await fetch(`${server.resolver}/v1/${MARKER}?token=${agent.token}`)).text())
  expect(stage.upstream.received.filter((r) => r.header('x-key') === MARKER).length).toBe(7)

  for (const [number, answer] of seen.entries()) expectClean(`answer ${number}`, answer)
  for (const { name, text } of listings()) expectClean(name, text)
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
  expectClean('logs', server.output())
  expect(server.output()).toContain('"route":"/v1/resolve"')
  for (const { name, text } of await storage()) expectClean(name, text)
}, 60_000)

/** The command line of every process, and the environment of the server. */
function listings() {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const commands = pids.map((pid) => readText(`/proc/${pid}/cmdline`)).join('\n')
  return [
    { name: 'process listing', text: commands },
    { name: 'environment', text: readText(`/proc/${server.pid}/environ`) },
  ]
}

/** Everything that the database stores: a dump of the server, or all files of the embedded one. */
async function storage() {
  if (databaseKind === 'postgresql') {
    const { bin, socketDir } = await sharedCluster()
    const name = database.env.DB_NAME ?? ''
    const command = [join(bin, 'pg_dump'), '-h', socketDir, '-U', 'cloakroom', name]
    const dump = watched(Bun.spawn(command))
    const text = await new Response(dump.stdout).text()
    expect(text).toContain('COPY public.secrets')
    return [{ name: 'dump', text }]
  }
  const directory = database.env.DATA_DIR ?? ''
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((name) => statSync(name).isFile())
  expect(files.length).toBeGreaterThan(100)
  return files.map((name) => ({ name, text: readFileSync(name, 'latin1') }))
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
