// tier: all
/** The main task of the executable, tested from outside by a client that shares no code with it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ORIGIN, openPasskey } from '../support/authenticator.ts'
import { marked } from '../support/canary.ts'
import { type Program, runProgram, startProgram } from './executable.ts'
import {
  type AgentToken,
  type Customer,
  createAgent,
  enrol,
  readAudit,
} from './independent_client.ts'
import { allow, KEYS, openScene, resolveAs, type Scene } from './scene.ts'

const VALUE = marked('sk_live_0123456789abcdef')
const OTHER = 'p\u00e4ss w\u00f6rd'

let scene: Scene
let empty = ''
let program: Program
let customer: Customer
let agent: AgentToken

beforeAll(async () => {
  scene = await openScene()
  empty = mkdtempSync(join(tmpdir(), 'cr-empty-'))
  program = await startProgram({
    cwd: empty,
    env: { ...scene.env, LOG_LEVEL: 'debug', PASSKEY_ORIGINS: ORIGIN },
  })
}, 60_000)
afterAll(async () => {
  program.signal('SIGKILL')
  await program.ended
  await scene.close()
  rmSync(empty, { recursive: true, force: true })
})

test("an account is created, and the server's copy opens with its keys only", async () => {
  customer = await enrol(program.controlPlane)
  await customer.upload({ API_KEY: VALUE, OTHER })
  expect(await customer.download('API_KEY')).toBe(VALUE)
  expect(await customer.download('OTHER')).toBe(OTHER)
  const { data } = await customer.call('GET', `/api/secrets/${customer.projectId}/`)
  const listed = data as { key: string; version: number; value?: string }[]
  expect(listed.map(({ key, version, value }) => [key, version, value])).toEqual([
    ['API_KEY', 1, undefined],
    ['OTHER', 1, undefined],
  ])
})

test('a passkey is added to the account, and logs in', async () => {
  const key = await openPasskey()
  const asked = { current_password: customer.password, origin: ORIGIN }
  const { data: begun } = await customer.call('POST', '/api/auth/passkeys/begin/', asked)
  const { challenge, user_handle } = begun as Record<'challenge' | 'user_handle', string>
  const added = { label: 'Laptop', credential: key.create(challenge) }
  await customer.call('POST', '/api/auth/passkeys/', added)
  const login = '/api/auth/login/passkey/'
  const { data: next } = await customer.call('POST', `${login}begin/`, { origin: ORIGIN })
  const credential = await key.get((next as { challenge: string }).challenge, user_handle)
  const { data } = await customer.call('POST', login, { credential })
  expect(data).toMatchObject({ user: { email: customer.email } })
})

test('an agent calls the API with a credential that only the API receives', async () => {
  await allow(scene, customer)
  agent = await createAgent(customer)
  scene.upstream.on('/echo', (request, wire) => {
    const body = JSON.stringify({ you_sent: request.header('authorization') })
    wire.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  })
  const plain = await resolveAs(agent, program.resolver, scene.url('/v1/charges'))
  expect(plain).toMatchObject({ status_code: 200, body: '{"ok":true}', redacted: false })
  const echo = await resolveAs(agent, program.resolver, scene.url('/echo'))
  expect(echo).toMatchObject({ body: '{"you_sent":"Bearer SVC_SECRET_API_KEY"}', redacted: true })
  const bearers = scene.upstream.received.map((request) => request.header('authorization'))
  expect(bearers).toEqual([`Bearer ${VALUE}`, `Bearer ${VALUE}`])
  expect(JSON.stringify([plain, echo])).not.toContain(VALUE)
})

test('health on both listeners is good, and the health command returns the same', async () => {
  const control = await fetch(`${program.controlPlane}/api/status/health/`)
  const resolver = await fetch(`${program.resolver}/healthz`)
  expect([control.status, resolver.status]).toEqual([200, 200])
  const ports = {
    PORT: new URL(program.controlPlane).port,
    RESOLVER_PORT: new URL(program.resolver).port,
  }
  expect(await runProgram({ args: ['health'], env: ports })).toEqual({
    code: 0,
    stdout: 'control plane  healthy\nresolver       healthy\n',
    stderr: '',
  })
  expect(await runProgram({ args: ['health'], env: { ...ports, PORT: '1' } })).toEqual({
    code: 1,
    stdout:
      'control plane  unreachable: http://127.0.0.1:1/api/status/health/\nresolver       healthy\n',
    stderr: '',
  })
})

test('SIGTERM ends the server with code 0, the audit is complete, and its output holds no secret', async () => {
  program.signal('SIGTERM')
  const { code, stdout, stderr } = await program.ended
  expect(code).toBe(0)
  const secrets = [VALUE, OTHER, agent.token, customer.access, customer.password]
  for (const secret of [...secrets, ...Object.values(KEYS)]) {
    expect(stdout).not.toContain(secret)
    expect(stderr).not.toContain(secret)
  }
  program = await startProgram({ cwd: empty, env: scene.env })
  customer.moveTo(program.controlPlane)
  const audit = await readAudit(customer)
  expect(
    audit.map(({ target_path, status_code, credential_ref }) => [
      target_path,
      status_code,
      credential_ref,
    ]),
  ).toEqual([
    ['/echo', 200, 'API_KEY'],
    ['/v1/charges', 200, 'API_KEY'],
  ])
  expect(readdirSync(empty)).toEqual([])
})
