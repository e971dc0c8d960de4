// tier: all
/** Files around the executable, or variables in its environment, do not change its behaviour. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { marked } from '../support/canary.ts'
import { startProgram } from './executable.ts'
import { createAgent, enrol } from './independent_client.ts'
import { allow, openScene, resolveAs, type Scene } from './scene.ts'

let scene: Scene
let folder = ''

beforeAll(async () => {
  scene = await openScene()
  folder = mkdtempSync(join(tmpdir(), 'cr-hostile-'))
  writeFileSync(join(folder, 'hostile.js'), 'console.log("hostile"); process.exit(66)')
  writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./hostile.js"]\nlogLevel = "debug"\n')
  writeFileSync(join(folder, 'package.json'), '{"type":"commonjs","main":"./hostile.js"}')
  for (const name of ['.env', '.env.local', '.env.production', '.env.development'])
    writeFileSync(
      join(folder, name),
      'LOG_LEVEL=nonsense\nROLE=nonsense\nBUN_OPTIONS=--preload=./hostile.js\n',
    )
}, 60_000)
afterAll(async () => {
  await scene.close()
  rmSync(folder, { recursive: true, force: true })
})

test("the folder's .env, bunfig.toml and package.json, and BUN_OPTIONS, are ignored", async () => {
  const before = readdirSync(folder)
  const program = await startProgram({
    cwd: folder,
    env: { ...scene.env, BUN_OPTIONS: `--preload=${join(folder, 'hostile.js')}` },
  })
  expect((await fetch(`${program.resolver}/healthz`)).status).toBe(200)
  program.signal('SIGTERM')
  const { code, stdout, stderr } = await program.ended
  expect(code).toBe(0)
  expect(stdout + stderr).not.toContain('hostile')
  expect(readdirSync(folder)).toEqual(before)
}, 60_000)

test("the environment's proxies, disabled verification and foreign certificates are ignored", async () => {
  const proxied: string[] = []
  const proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => {
      proxied.push(url)
      return new Response('proxied')
    },
  })
  const { RESOLVER_CA_FILE = '', ...untrusting } = scene.env
  const address = `http://127.0.0.1:${proxy.port}`
  const bending = {
    HTTP_PROXY: address,
    HTTPS_PROXY: address,
    https_proxy: address,
    ALL_PROXY: address,
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    NODE_EXTRA_CA_CERTS: RESOLVER_CA_FILE,
    SSL_CERT_FILE: RESOLVER_CA_FILE,
    BUN_CONFIG_VERBOSE_FETCH: 'curl',
  }
  const program = await startProgram({ env: { ...untrusting, ...bending } })
  const customer = await enrol(program.controlPlane)
  await customer.upload({ API_KEY: marked('sk_live_never_sent') })
  await allow(scene, customer)
  const { token } = await createAgent(customer)
  const answer = await fetch(`${program.resolver}/v1/resolve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      target_url: scene.url('/'),
      headers: { Authorization: 'Bearer SVC_SECRET_API_KEY' },
    }),
  })
  expect({ status: answer.status, body: await answer.json() }).toMatchObject({
    status: 502,
    body: { error_code: 'upstream_tls_error' },
  })
  program.signal('SIGTERM')
  const { code, stdout, stderr } = await program.ended
  expect(code).toBe(0)
  expect(stdout + stderr).not.toContain(marked('sk_live_never_sent'))
  expect([proxied, scene.upstream.received]).toEqual([[], []])
  await proxy.stop(true)

  const trusting = await startProgram({ env: { ...scene.env, ...bending } })
  customer.moveTo(trusting.controlPlane)
  const agent = await createAgent(customer)
  expect(await resolveAs(agent, trusting.resolver, scene.url('/'))).toMatchObject({
    status_code: 200,
  })
  trusting.signal('SIGTERM')
  expect((await trusting.ended).code).toBe(0)
}, 60_000)
