// tier: all
/** A start with an unusable DATA_DIR: its message, and whether a service manager should retry. */
import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openEmbedded } from '../../src/database/embedded/open.ts'
import { makeDisk } from '../faults/disk.ts'
import { operate, scratch } from '../operator/backup/support.ts'

const files = scratch()
afterAll(() => files.remove())

const start = (DATA_DIR: string) => operate({ DATA_DIR, PORT: '0', RESOLVER_PORT: '0' }, 'serve')

test('a permanent start problem exits with 78, with the problem in the first line', async () => {
  const foreign = files.at('foreign')
  mkdirSync(foreign)
  writeFileSync(join(foreign, 'thesis.txt'), 'mine')
  const old = files.at('old')
  mkdirSync(join(old, 'postgres'), { recursive: true })
  writeFileSync(join(old, 'cloakroom.lock'), '')
  writeFileSync(join(old, 'postgres', 'PG_VERSION'), '17\n')
  const broken = files.at('broken')
  await (await openEmbedded({ dataDir: broken, onFailure: () => {} })).close()
  truncateSync(join(broken, 'postgres', 'global', 'pg_control'), 100)

  const expected: [string, string][] = [
    [
      foreign,
      `foreign: The data directory ${foreign} is not empty and was not created by Cloakroom. It was not changed.`,
    ],
    [
      old,
      `other_version: The data directory ${old} was created by PostgreSQL 17; this build supports only 18.`,
    ],
    [
      broken,
      `damaged: The data directory ${broken} looks damaged: pg_control is missing or truncated. Restore it from a backup.`,
    ],
  ]
  for (const [place, line] of expected)
    expect(await start(place)).toEqual({ code: 78, out: '', err: `cloakroom: ${line}\n` })
}, 60_000)

test('a transient start problem exits with 1', async () => {
  const used = files.at('used')
  const database = await openEmbedded({ dataDir: used, onFailure: () => {} })
  expect(await start(used)).toEqual({
    code: 1,
    out: '',
    err: `cloakroom: in_use: The data directory ${used} is in use by another process.\n`,
  })
  await database.close()
  const below = join(files.at('file'), 'data')
  writeFileSync(files.at('file'), '')
  expect(await start(below)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^cloakroom: not_writable: .*\n$/),
  })
}, 60_000)

test.each(['doctor', 'backup', 'rekey-outer'])(
  '%s refuses an empty folder and creates nothing in it',
  async (command) => {
    const empty = files.at(command)
    const keys = { SECRET_KEY: '', ENCRYPTION_KEY: '' }
    const args = command === 'backup' ? [files.at('never')] : []
    expect(await operate({ DATA_DIR: empty, ...keys }, command, ...args)).toEqual({
      code: 78,
      out: '',
      err: `cloakroom: DATA_DIR: ${empty} has neither a database nor keys (set it as for the server, or set DB_HOST, SECRET_KEY and ENCRYPTION_KEY)\n`,
    })
    expect(existsSync(empty)).toBe(false)
  },
  60_000,
)

test('a disk without room for a first start is reported as such', async () => {
  const disk = makeDisk(64)
  try {
    const { code, err } = await start(join(disk.path, 'data'))
    expect(code).toBe(1)
    expect(err).toContain('the database is read-only (25006)')
    expect(err).toContain('at least 96 MiB')
    expect(err).not.toContain('    at ')
  } finally {
    disk.remove()
  }
}, 60_000)

test('a database is not recovered on a nearly full disk, and opens unchanged once there is space', async () => {
  const disk = makeDisk(256)
  const dataDir = join(disk.path, 'data')
  try {
    await (await openEmbedded({ dataDir, onFailure: () => {} })).close()
    disk.fill()
    // 8 MiB: enough for the lock, and too little for a segment of the log.
    const ballast = join(disk.path, 'ballast')
    truncateSync(ballast, statSync(ballast).size - 8 * 1024 * 1024)
    const { code, err } = await start(dataDir)
    expect(code).toBe(1)
    expect(err).toContain(`${dataDir} cannot be written: the disk is full (ENOSPC)`)
    disk.free()
    await (await openEmbedded({ dataDir, onFailure: () => {} })).close()
  } finally {
    disk.remove()
  }
}, 60_000)
