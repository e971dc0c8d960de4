// tier: all
/** Executes the commands and settings of docs/guides/self-hosting.md. ./own_network.test.ts executes `server` and `client`. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { openLocalConsole } from '../../src/console/local.ts'
import { readConfig } from '../../src/core/config/config.ts'
import { listRelyingParties } from '../../src/core/config/passkey_origins.ts'
import { EX_REFUSED } from '../../src/core/exit_codes.ts'
import { freePort } from '../bench/processes.ts'
import { KEYS } from '../binary/scene.ts'
import { PASSWORD } from '../cli/person.ts'
import { typing } from '../cli/pseudo_terminal.ts'
import { type SecureCluster, startSecureCluster } from '../faults/certificates.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import { scriptOf, settingsIn } from './blocks.ts'
import { textOf } from './documents.ts'
import { openServerMachine, stop } from './machine.ts'

const start = scriptOf('docs/guides/self-hosting.md', 'try')
const file = scriptOf('docs/guides/self-hosting.md', 'file')
const keygen = scriptOf('docs/guides/self-hosting.md', 'keys')

let machine: Awaited<ReturnType<typeof openServerMachine>>
beforeAll(async () => {
  machine = await openServerMachine()
}, 120_000)
afterAll(() => machine.remove())

const namesIn = (text: string) => Object.keys(settingsIn(text))
const statusOf = async (origin: string, host: string) =>
  (await fetch(`${origin}/api/status/`, { headers: { host } })).status

test('a server starts without settings, and generates its keys in ./cloakroom-data', async () => {
  const server = await machine.serve(start)
  expect((await fetch(`${server.controlPlane}/api/status/health/`)).status).toBe(200)
  await stop(server)
  const keys = readFileSync(machine.at('root/cloakroom-data/keys.env'), 'utf8')
  expect(namesIn(keys)).toEqual(['SECRET_KEY', 'ENCRYPTION_KEY'])
}, 120_000)

test('keygen prints the three settings of the page, and the settings file is written once', async () => {
  expect(namesIn(await machine.must(keygen))).toEqual([
    ...['SECRET_KEY', 'ENCRYPTION_KEY', 'CRON_SECRET'],
  ])
  const path = machine.at('etc/cloakroom.env')
  rmSync(path, { force: true })
  await machine.must(file)
  const written = readFileSync(path, 'utf8')
  expect(namesIn(written)).toHaveLength(3)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(await machine.run(file)).toMatchObject({ code: 2, out: '' })
  expect(readFileSync(path, 'utf8')).toBe(written)
})

test('the unit runs a server with the settings file', async () => {
  const unit = readFileSync('docs/deploy/cloakroom.service', 'utf8')
  machine.write('root/cloakroom.service', unit)
  const PORT = String(freePort())
  const keys = await machine.must(keygen)
  machine.write('etc/cloakroom.env', `${keys}PORT=${PORT}\nRESOLVER_PORT=0\n`)
  await machine.must(scriptOf('docs/guides/self-hosting.md', 'unit'))
  expect(await statusOf(`http://127.0.0.1:${PORT}`, 'localhost')).toBe(200)
  expect(readdirSync(machine.at('var/lib/cloakroom'))).not.toContain('keys.env')
}, 120_000)

test('a key is read from the file that the setting names', async () => {
  const path = 'run/secrets/SECRET_KEY'
  const exported = scriptOf('docs/guides/self-hosting.md', 'key')
  const { SECRET_KEY = '', ...env } = machine.settings
  machine.write(path, 'too short')
  const refused = machine.serve(exported + start, env)
  await expect(refused).rejects.toThrow('SECRET_KEY: must have at least 32 characters')
  machine.write(path, `${SECRET_KEY}\n`)
  await stop(await machine.serve(exported + start, env))
}, 120_000)

test('only the person with the owner code registers first', async () => {
  const text = scriptOf('docs/guides/self-hosting.md', 'owner')
  const [, OWNER_CODE = ''] = /^SERVICE_OWNER_CODE=(\S+)/.exec(text) ?? []
  const server = await machine.serve(start, { ...machine.settings, OWNER_CODE })
  const line = text.replace('https://vault.example.com', server.controlPlane).trim()
  const env = {
    PATH: `${machine.at('usr/local/bin')}:${process.env.PATH}`,
    HOME: machine.at('root'),
    SERVICE_PASSPHRASE: 'of this machine',
  }
  const typed = ['Choose a password', 'Repeat it'].map((when) => ({
    when,
    type: `${PASSWORD}\r`,
  }))
  const register = (command: string) =>
    typing(['bash', '-c', command], { cwd: machine.at('root'), env, typed })
  expect(await register(line.replace('sixteen', 'fifteen'))).toMatchObject({ code: EX_REFUSED })
  const { code, screen } = await register(line)
  expect({ code, screen }).toEqual({ code: 0, screen: expect.stringContaining('ada@example.com') })
  await stop(server)
}, 120_000)

test('the origins for passkeys are the server, and the console on this machine for that server', async () => {
  const named = settingsIn(scriptOf('docs/guides/self-hosting.md', 'passkeys'))
  const origins = [...listRelyingParties(readConfig(named, () => KEYS)).keys()]
  const [server = ''] = origins
  const { url, close } = await openLocalConsole(server, 0)
  await close()
  const local = new URL(url)
  local.port = '8890'
  expect(origins).toEqual(['https://vault.example.com', local.origin])
}, 120_000)

test('a server runs with an echo API', async () => {
  const script = scriptOf('docs/guides/self-hosting.md', 'echo')
  expect(textOf('docs/guides/self-hosting.md')).toContain('an echo API on port 8443')
  const port = freePort()
  const placed = script.replace('cloakroom echo', `cloakroom echo --port ${port}`)
  const server = await machine.serve(placed, machine.settings)
  expect(server.output()).toContain(`The echo API listens at https://echo.internal:${port}`)
  await stop(server)
}, 120_000)

{
  const { afterAll, test } = requires('postgresql')
  let cluster: SecureCluster | undefined
  afterAll(() => cluster?.remove())

  test('the production settings start a server, on PostgreSQL with a password over TLS', async () => {
    cluster = await startSecureCluster()
    machine.write('database_ca.pem', cluster.authority.certificate)
    const keys = settingsIn(await machine.must(keygen))
    const given: Record<string, string> = { ...keys, DB_PASSWORD: cluster.password }
    const text = scriptOf('docs/guides/self-hosting.md', 'production')
      .replaceAll(/^(\w+)=…$/gm, (_, name) => `${name}=${given[name]}`)
      .replace('db.internal', 'localhost')
    expect(text).not.toContain('…')
    machine.write('root/.env', machine.placed(text))
    const env = { DB_PORT: `${cluster.port}`, DB_CA_FILE: machine.at('database_ca.pem') }
    const script = 'set -a; . ./.env; set +a\n'
    const check = script + scriptOf('docs/guides/self-hosting.md', 'check')
    expect(await machine.must(check, env)).toMatch(/^ok +database /m)
    expect(await machine.run(check, { ...env, DB_CA_FILE: '' })).toMatchObject({ code: 1 })
    const server = await machine.serve(script + start, env)
    expect(await statusOf(server.controlPlane, 'vault.example.com')).toBe(200)
    expect(await statusOf(server.controlPlane, 'other.example.com')).toBe(400)
    await until(() => server.output().includes('"message":"backed up"'))
    expect(await cluster.ask('select ssl from pg_stat_ssl where ssl')).not.toEqual([])
    await stop(server)
  }, 120_000)
}
