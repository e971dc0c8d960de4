// tier: all
/** TLS with a real PostgreSQL: verify-full accepts the certificate of a named authority for that host, and no other. */
import { expect } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Authority, createAuthority } from '../../src/cli/demo/certificates.ts'
import { readConfig } from '../../src/core/config/config.ts'
import { openLog } from '../../src/core/log.ts'
import { openDatabase } from '../../src/database/open.ts'
import { awaitServer } from '../../src/database/reach.ts'
import { serveAs } from '../faults/certificates.ts'
import { type FaultCluster, startFaultCluster } from '../faults/cluster.ts'
import { requires } from '../support/requires.ts'

const { afterAll, beforeAll, test } = requires('postgresql')

const KEYS = { SECRET_KEY: 'k'.repeat(36), ENCRYPTION_KEY: Buffer.alloc(32).toString('base64url') }
const home = mkdtempSync(join(tmpdir(), 'cr-database-tls-'))
const file = (name: string, text: string) => {
  writeFileSync(join(home, name), text)
  return join(home, name)
}
let cluster: FaultCluster
let authority: Authority

beforeAll(async () => {
  cluster = await startFaultCluster()
  authority = await createAuthority('Authority of the database')
}, 60_000)
afterAll(async () => {
  await cluster.remove()
  rmSync(home, { recursive: true, force: true })
})

/** `TLS` or `clear`, or the error of the start. */
async function reached(settings: Record<string, string>): Promise<string> {
  const env = {
    ...KEYS,
    ...cluster.database,
    DB_HOST: 'localhost',
    DB_WAIT_SECONDS: '0',
    ...settings,
  }
  const config = readConfig(env, () => KEYS)
  try {
    await awaitServer(config, openLog('error'))
  } catch (error) {
    return String(error)
  }
  const { sql, close } = await openDatabase(config, () => {})
  const [row] = await sql<{ ssl: boolean }[]>`
    select ssl from pg_stat_ssl where pid = pg_backend_pid()`
  await close()
  return row?.ssl ? 'TLS' : 'clear'
}

test('a server without TLS is rejected if TLS is required, and used if it is not', async () => {
  expect(await reached({ DB_SSLMODE: 'prefer' })).toBe('clear')
  for (const DB_SSLMODE of ['require', 'verify-full'])
    expect(await reached({ DB_SSLMODE })).toContain('requires TLS')
})

test('verify-full accepts the certificate of the named authority for this host, and no other', async () => {
  const DB_CA_FILE = file('ca.pem', authority.certificate)
  const other = file('other.pem', (await createAuthority('Another authority')).certificate)
  const DB_SSLMODE = 'verify-full'
  const refused = 'set DB_CA_FILE to its certificate authority'
  await serveAs(cluster, authority, 'localhost')
  expect(await reached({ DB_SSLMODE, DB_CA_FILE })).toBe('TLS')
  expect(await reached({ DB_SSLMODE })).toContain(refused)
  expect(await reached({ DB_SSLMODE, DB_CA_FILE: other })).toContain(refused)
  await serveAs(cluster, authority, 'db.other.example')
  expect(await reached({ DB_SSLMODE, DB_CA_FILE })).toContain(refused)
  expect(await reached({ DB_SSLMODE: 'require', DB_CA_FILE })).toBe('TLS')
}, 60_000)

test('a file that is no certificate is an invalid setting', async () => {
  const DB_CA_FILE = file('empty.pem', '')
  expect(await reached({ DB_SSLMODE: 'verify-full', DB_CA_FILE })).toContain(
    'DB_CA_FILE: is not a readable PEM file',
  )
})
