// tier: all, both databases in test:all
/** Starts that must not succeed: one clear line each, the right exit code, and no value in sight. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  databaseKind,
  freshDatabase,
  sharedCluster,
  type TestDatabase,
} from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { watched } from '../support/watched.ts'
import { type Ending, executable, runProgram, startProgram } from './executable.ts'
import { KEYS } from './scene.ts'

const OTHER_KEY = Buffer.alloc(32, 0x33).toString('base64url')

let taken: Bun.Server<undefined>
let database: TestDatabase
/** The database under test, with keys, at a port where somebody else listens already. */
let settings: Record<string, string> = {}

beforeAll(async () => {
  await executable()
  taken = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('not Cloakroom') })
  database = await freshDatabase()
  settings = { ...KEYS, ...database.env, PORT: String(taken.port), RESOLVER_PORT: '0' }
}, 60_000)
afterAll(async () => {
  database.remove()
  await taken.stop(true)
})

function portsAt(port: string) {
  return { PORT: port, RESOLVER_PORT: port }
}

async function startAndStop(env: Record<string, string>): Promise<Ending> {
  const program = await startProgram({ env })
  program.signal('SIGTERM')
  return program.ended
}

test('a port that is in use stops the start with one line, before the database is touched', async () => {
  const { port = 0 } = taken
  expect(await runProgram({ env: { ...settings, LOG_LEVEL: 'error' } })).toEqual({
    code: 1,
    stdout: '',
    stderr: `cloakroom: PORT: port ${port} is in use by another program; set another, or 0 for a free one (example: PORT=${port + 1})\n`,
  })
  const { code, stderr } = await startAndStop({ ...settings, ...portsAt('0') })
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining('"message":"migrated"'),
  })
}, 60_000)

test('an ENCRYPTION_KEY that does not open the data: 78, and nothing was ever served', async () => {
  const { controlPlane, ...first } = await startProgram({ env: { ...settings, ...portsAt('0') } })
  first.signal('SIGTERM')
  expect((await first.ended).code).toBe(0)
  const { port: PORT } = new URL(controlPlane)
  const wrong = { ...settings, PORT, ENCRYPTION_KEY: OTHER_KEY, LOG_LEVEL: 'error' }
  const running = { is: true }
  const refused = runProgram({ env: wrong }).finally(() => {
    running.is = false
  })
  const served: number[] = []
  while (running.is) {
    const answer = await fetch(`${controlPlane}/api/status/health/`).catch(() => null)
    if (answer) served.push(answer.status)
  }
  const { code, stdout, stderr } = await refused
  expect({ code, stdout, served, lines: stderr.trimEnd().split('\n').length }).toEqual({
    code: 78,
    stdout: '',
    served: [],
    lines: 1,
  })
  expect(stderr).toStartWith(
    'cloakroom: ENCRYPTION_KEY: cannot decrypt the data in this database (',
  )
  expect(stderr).not.toContain(OTHER_KEY)
  const rotated = {
    ...settings,
    ...portsAt('0'),
    ENCRYPTION_KEY: `${OTHER_KEY},${KEYS.ENCRYPTION_KEY}`,
  }
  expect((await startAndStop(rotated)).code).toBe(0)
}, 60_000)

test('several wrong settings: a line for each with an example, and no value', async () => {
  const env = {
    ...settings,
    PORT: 'value-1',
    ENCRYPTION_KEY: 'value-2',
    RATE_LOGIN: 'value-3',
    ROLE: 'value-4',
    TRUSTED_PROXIES: 'value-5',
  }
  const { code, stdout, stderr } = await runProgram({ env })
  expect({ code, stdout }).toEqual({ code: 78, stdout: '' })
  expect(namesOf(stderr)).toEqual([
    'ENCRYPTION_KEY',
    'PORT',
    'RATE_LOGIN',
    'ROLE',
    'TRUSTED_PROXIES',
  ])
  expect(stderr).not.toContain('value-')
})

test('production without settings names each that it must have', async () => {
  const { code, stdout, stderr } = await runProgram({ env: { SERVICE_SETTINGS: 'production' } })
  expect({ code, stdout }).toEqual({ code: 78, stdout: '' })
  expect(namesOf(stderr)).toEqual([
    'ALLOWED_HOSTS',
    'CRON_SECRET',
    'DB_HOST',
    'DB_NAME',
    'DB_PASSWORD',
    'DB_USER',
    'ENCRYPTION_KEY',
    'SECRET_KEY',
  ])
})

/** The variables that standard error complains about, each line in the one form that there is. */
function namesOf(stderr: string): string[] {
  const lines = stderr.trimEnd().split('\n')
  return lines
    .map((line) => /^cloakroom: ([A-Z_]+): .+ \(example: .+\)$/.exec(line)?.[1] ?? line)
    .sort()
}

if (databaseKind === 'embedded') {
  test('keys that the server made for itself and that are gone: 78, and no new ones are made', async () => {
    const { env, remove } = await freshDatabase()
    const first = await startAndStop(env)
    const file = join(env.DATA_DIR ?? '', 'keys.env')
    expect(first.stdout).toContain(`created SECRET_KEY and ENCRYPTION_KEY in ${file}`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const keys = readFileSync(file, 'utf8')
    for (const line of keys.trimEnd().split('\n'))
      expect(first.stdout + first.stderr).not.toContain(line.split('=')[1] ?? '')
    rmSync(file)
    const { code, stdout, stderr } = await runProgram({ env: { ...env, ...portsAt('0') } })
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' })
    expect(stderr).toStartWith(`cloakroom: ENCRYPTION_KEY: ${file} is missing or damaged`)
    expect(await Bun.file(file).exists()).toBe(false)
    writeFileSync(file, keys)
    expect((await startAndStop(env)).code).toBe(0)
    remove()
  }, 60_000)

  test('a second executable on one DATA_DIR is refused, and the first goes on', async () => {
    const { env, remove } = await freshDatabase()
    const first = await startProgram({ env })
    expect(await runProgram({ env: { ...env, ...portsAt('0') } })).toEqual({
      code: 1,
      stdout: '',
      stderr: `cloakroom: in_use: The data directory ${env.DATA_DIR} is in use by another process.\n`,
    })
    expect((await fetch(`${first.controlPlane}/api/status/health/`)).status).toBe(200)
    first.signal('SIGTERM')
    expect((await first.ended).code).toBe(0)
    remove()
  }, 60_000)
}

{
  const { test } = requires('postgresql')
  test('without a key nobody invents one for a database on a server', async () => {
    const { code, stderr } = await runProgram({ env: { ...database.env, ...portsAt('0') } })
    expect({ code, names: namesOf(stderr) }).toEqual({
      code: 78,
      names: ['ENCRYPTION_KEY', 'SECRET_KEY'],
    })
  })

  test('the output of keygen is a .env that is complete for a start with DB_HOST', async () => {
    const { env, remove } = await freshDatabase()
    const place = mkdtempSync(join(tmpdir(), 'cr-keygen-'))
    const { stdout: lines } = await runProgram({ args: ['keygen'] })
    writeFileSync(join(place, '.env'), lines)
    const script = 'set -a; . ./.env; exec "$0"'
    const child = watched(
      Bun.spawn(['/bin/sh', '-c', script, await executable()], {
        cwd: place,
        env: { ...env, ...portsAt('0') },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    )
    const reader = child.stdout.getReader()
    const banner = new TextDecoder().decode((await reader.read()).value)
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    expect(banner).toContain('Cloakroom is ready.')
    expect(banner).toContain(`PostgreSQL, ${env.DB_NAME} on ${env.DB_HOST}`)
    const said = banner + (await new Response(child.stderr).text())
    for (const line of lines.trimEnd().split('\n'))
      expect(said).not.toContain(line.split('=')[1] ?? '')
    rmSync(place, { recursive: true, force: true })
    remove()
  }, 60_000)

  test('a database that cannot be reached, or refuses, stops the start with one line', async () => {
    const once = { ...settings, ...portsAt('0'), DB_WAIT_SECONDS: '0' }
    const nowhere = { ...once, DB_HOST: '127.0.0.1', DB_PORT: '1' }
    const { socketDir } = await sharedCluster()
    // It answers, and will go on refusing: nothing to wait for.
    const unknown = { ...settings, ...portsAt('0'), DB_HOST: socketDir, DB_NAME: 'missing' }
    for (const env of [nowhere, unknown]) {
      const { code, stdout, stderr } = await runProgram({ env })
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/^cloakroom: .+\n$/)
    }
  }, 60_000)
}
