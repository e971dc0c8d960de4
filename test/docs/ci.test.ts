// tier: all
/** Executes the commands of docs/guides/ci.md that use the program. Other tests run its examples with curl. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAccount, type Terminal } from '../cli/person.ts'
import { openSwitch } from '../cli/running/switched_server.ts'
import { sharedApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { linesOf, scriptOf } from './blocks.ts'

const KEY = marked('sk_live_ci')

let server: ReturnType<typeof openSwitch>
let ada: Terminal
let token: string
let runner: string

beforeAll(async () => {
  const app = await sharedApp()
  server = openSwitch(app.controlPlane)
  const addresses = { controlPlane: server.origin, resolver: app.resolver }
  ada = await openAccount(addresses, 'ada@ci.example')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `API_KEY=${KEY}`, '-e', 'production')
  runner = join(ada.home, 'runner')
  mkdirSync(runner)
  // Prints the hash, because the output is searched for the value. The token must not be there.
  const program = `printf %s "$API_KEY" | sha256sum; echo "$SERVICE_TOKEN$SERVICE_TOKEN_FILE"`
  for (const name of ['deploy.sh', 'server'])
    writeFileSync(join(runner, name), `#!/bin/sh\n${program}\n`, { mode: 0o755 })
})
afterAll(async () => {
  ada.remove()
  await server.close()
})

const delivered = `${new Bun.CryptoHasher('sha256').update(KEY).digest('hex')}  -\n\n`

/** A command on a machine without an account and a project. */
const onRunner = (line: string, env: Record<string, string>) =>
  ada.shell(`export HOME='${runner}'; cd; ${line}`, env)

test('a token for production is printed once, and can read for 90 days', async () => {
  const [line = ''] = linesOf('docs/guides/ci.md', 'issue')
  const { code, out } = await ada.shell(line)
  token = /svc_wkl_\w+/.exec(out)?.[0] ?? ''
  expect({ code, token }).toEqual({ code: 0, token: expect.stringMatching(/.{20}/) })
  const [listed] = (await ada.json('workload-token', 'list')) as Record<string, string>[]
  expect(listed).toMatchObject({ environment: 'production' })
  const days = (Date.parse(listed?.expires_at ?? '') - Date.now()) / 86_400_000
  expect(days).toBeWithin(89.9, 90.1)
})

test('the commands for a CI job and a container start the program with the values and without the token', async () => {
  const [{ run = '', env = {} } = {}] = Bun.YAML.parse(
    scriptOf('docs/guides/ci.md', 'executable'),
  ) as { run?: string; env?: Record<string, string> }[]
  expect(env).toEqual({
    SERVICE_SERVER_URL: 'https://cloakroom.example.com',
    SERVICE_TOKEN: expect.stringMatching(/^\$\{\{ secrets\.SERVICE_TOKEN \}\}$/),
  })
  writeFileSync(join(runner, 'token'), token, { mode: 0o600 })
  const [file = ''] = linesOf('docs/guides/ci.md', 'file')
  const placed = file.replace('/run/secrets/service_token', join(runner, 'token'))
  const started = [
    await onRunner(scriptOf('docs/guides/ci.md', 'run'), { SERVICE_TOKEN: token }),
    await onRunner(run, { SERVICE_TOKEN: token }),
    await onRunner(placed, {}),
  ]
  expect(started).toEqual(started.map(() => ({ code: 0, out: delivered, err: '' })))
})

test('the command with a fallback starts the program while the server is unavailable', async () => {
  const script = scriptOf('docs/guides/ci.md', 'fallback')
  const placed = script.replace('/var/lib/app', runner)
  const online = await onRunner(placed, { SERVICE_TOKEN: token })
  await server.to('down')
  const offline = await onRunner(placed, { SERVICE_TOKEN: token })
  const without = await onRunner(scriptOf('docs/guides/ci.md', 'run'), { SERVICE_TOKEN: token })
  await server.to('passes')
  expect(online).toEqual({ code: 0, out: delivered, err: '' })
  expect(offline).toMatchObject({
    code: 0,
    out: delivered,
    err: expect.stringMatching(/^WARNING: .*: using .*secrets\.sealed, fetched /),
  })
  expect(without).toMatchObject({ code: 6, out: '' })
})
