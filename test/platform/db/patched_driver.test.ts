/**
 * What the patch in .patches/ mends in postgres.js 3.4.9; these tests fail where it was not applied. The
 * driver wrote ROLLBACK to a connection that was gone, which ended the whole process. And it went round its
 * connections: after a rest each statement met one that had not prepared it, with a server process that
 * had slept for as long.
 */
import { expect, test } from 'bun:test'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { databaseKind, sharedCluster } from '../../support/database.ts'

test('the driver knows that a connection may be gone when it writes', async () => {
  const text = await sourceOf('connection.js')
  expect(text).toMatch(/function nextWrite\(fn\) \{\s+if \(!socket\)/)
})

test('of idle connections it takes the one that was used last', async () => {
  expect(await sourceOf('index.js')).toContain('return go(open.pop(), query)')
})

if (databaseKind === 'postgresql') {
  test('one statement after the other goes to one connection, many at once to many', async () => {
    const { socketDir, createDatabase } = await sharedCluster()
    const database = await createDatabase()
    const sql = postgres({ host: socketDir, user: 'cloakroom', database, max: 4 })
    const pidOf = async (seconds: number) => {
      const [row] = await sql<
        { pid: number }[]
      >`select pg_backend_pid() as pid, pg_sleep(${seconds})`
      return row?.pid
    }
    expect(new Set(await Promise.all([0.1, 0.1, 0.1, 0.1].map(pidOf))).size).toBe(4)
    const first = await pidOf(0)
    for (let call = 0; call < 8; call += 1) expect(await pidOf(0)).toBe(first)
    await sql.end()
  })
}

function sourceOf(file: string): Promise<string> {
  const driver = fileURLToPath(import.meta.resolve('postgres'))
  return Bun.file(driver.replace(/index\.js$/, file)).text()
}
