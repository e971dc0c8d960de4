// tier: all
/**
 * Executes the commands and settings of docs/guides/backup.md. test/deploy/point_in_time.test.ts executes the recovery,
 * test/security/signed_restart.test.ts the command for an older state.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { type SecureCluster, startSecureCluster } from '../faults/certificates.ts'
import { KEYS } from '../operator/backup/support.ts'
import { startTestApp } from '../support/app.ts'
import { preparedDatabase } from '../support/database.ts'
import { registerPerson } from '../support/people.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import { linesOf, scriptOf, settingsIn } from './blocks.ts'
import { type Machine, openMachine, stop } from './machine.ts'

const keys = Object.entries(KEYS).map(([name, key]) => `${name}=${key}\n`)
let machine: Machine
/** The settings of the server: an embedded database with its keys. */
let settings: { DATA_DIR: string }
let recipient: string
let rows: unknown

beforeAll(async () => {
  machine = await openMachine()
  settings = { DATA_DIR: machine.at('var/lib/cloakroom') }
  const database = await preparedDatabase()
  const app = await startTestApp(KEYS, { database })
  await registerPerson(app)
  await app.stop()
  const first = machine.at('first.backup')
  await machine.must(`cloakroom backup ${first}`, { ...KEYS, ...database.env })
  database.remove()
  machine.write('var/lib/cloakroom/keys.env', keys.join(''))
  await machine.must(`cloakroom restore ${first}`, settings)
  rows = await rowsIn(settings)
  const identity = await generateIdentity()
  machine.write('root/key.txt', `${identity}\n`)
  recipient = await identityToRecipient(identity)
}, 120_000)
afterAll(() => machine.remove())

/** The checksum of each table. */
async function rowsIn(env: Record<string, string>): Promise<unknown> {
  const file = machine.at('rows.backup')
  rmSync(file, { force: true })
  return JSON.parse(await machine.must(`cloakroom backup ${file} --json`, env)).tables
}

/** The same settings after the loss of the database: its keys are left. */
function withoutDatabase(): { DATA_DIR: string } {
  const name = `left-${Bun.randomUUIDv7()}`
  machine.write(`${name}/keys.env`, keys.join(''))
  return { DATA_DIR: machine.at(name) }
}

test('a backup is made and restored', async () => {
  const [backup = '', restore = '', ...more] = linesOf('docs/guides/backup.md', 'both')
  expect(more).toEqual([])
  rmSync(machine.at('backups/cloakroom.backup'), { force: true })
  await machine.must(backup, settings)
  const target = withoutDatabase()
  await machine.must(restore, target)
  expect(await rowsIn(target)).toEqual(rows)
}, 120_000)

test('an encrypted backup is restored with its identity only', async () => {
  const backup = scriptOf('docs/guides/backup.md', 'encrypted').replace('age1…', recipient)
  const restore = scriptOf('docs/guides/backup.md', 'identity')
  rmSync(machine.at('backups/cloakroom.backup'), { force: true })
  await machine.must(backup, settings)
  const target = withoutDatabase()
  expect(await machine.run(restore.replace('--identity key.txt', ''), target)).toMatchObject({
    code: 2,
    err: expect.stringContaining('--identity key.txt'),
  })
  await machine.must(restore, target)
  expect(await rowsIn(target)).toEqual(rows)
  renameSync(machine.at('backups/cloakroom.backup'), machine.at('root/cloakroom.backup'))
  machine.write('root/keys.env', keys.join(''))
  const out = await machine.must(scriptOf('docs/guides/backup.md', 'drill'))
  expect(out).toContain('restored ')
  expect(out).toMatch(/^ok +encryption_key +\S+ seals /m)
}, 120_000)

test('the crontab line makes a backup with the day in its name', async () => {
  const [, command = ''] =
    /^30 2 \* \* \* (.*)\n$/.exec(scriptOf('docs/guides/backup.md', 'crontab')) ?? []
  // As cron does.
  await machine.must(command.replaceAll('\\%', '%'))
  expect(readdirSync(machine.at('backups'))).toContainEqual(
    expect.stringMatching(/^cloakroom-\d{4}-\d\d-\d\d\.backup$/),
  )
}, 120_000)

test('the settings of the page have a server make an encrypted backup', async () => {
  // The server changes its database.
  cpSync(settings.DATA_DIR, machine.at('scheduled'), { recursive: true })
  const text = scriptOf('docs/guides/backup.md', 'schedule').replace('age1…', recipient)
  const server = await machine.serve('cloakroom serve', {
    ...settingsIn(machine.placed(text)),
    DATA_DIR: machine.at('scheduled'),
  })
  const made = /"message":"backed up".*"file":"([^"]+)"/
  const [, file = ''] = await until(() => made.exec(server.output()))
  await stop(server)
  expect(file).toStartWith(machine.at('backups/'))
  expect(readFileSync(file, 'latin1')).toStartWith('age-encryption.org/v1\n')
}, 120_000)

{
  const { afterAll, test } = requires('postgresql')
  let cluster: SecureCluster | undefined
  afterAll(() => cluster?.remove())

  test('the database moves to PostgreSQL, over TLS with a password, and back', async () => {
    cluster = await startSecureCluster()
    const { port, password, authority } = cluster
    machine.write('database_ca.pem', authority.certificate)
    const DB_CA_FILE = machine.at('database_ca.pem')
    const given = { ...settings, DB_CA_FILE, PGPASSWORD: password }
    const lines = linesOf('docs/guides/backup.md', 'move').map((line) =>
      line.replace('db.internal', `localhost:${port}`),
    )
    expect(lines).toHaveLength(2)
    const [look = '', move = ''] = lines
    expect(await machine.must(look, given)).toContain('would move')
    await machine.must(move, given)
    const there = {
      ...{ ...KEYS, DB_CA_FILE, DB_HOST: 'localhost', DB_PORT: `${port}` },
      ...{ DB_NAME: 'cloakroom', DB_USER: 'cloakroom', DB_PASSWORD: password },
      DB_SSLMODE: 'verify-full',
    }
    expect(await rowsIn(there)).toEqual(rows)
    const old = machine.at('var/lib/old')
    renameSync(settings.DATA_DIR, old)
    await machine.must(scriptOf('docs/guides/backup.md', 'back'), there)
    machine.write('var/lib/cloakroom/keys.env', keys.join(''))
    expect(await rowsIn(settings)).toEqual(rows)
  }, 120_000)
}
