// tier: all
import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { CLUSTER } from '../../../src/database/embedded/data_directory.ts'
import {
  DataDirectoryError,
  type EmbeddedDatabase,
  openEmbedded,
} from '../../../src/database/embedded/open.ts'
import { databasePlace } from '../../support/places.ts'
import { startChild } from './process.ts'

let directory = ''

beforeEach(() => {
  directory = mkdtempSync(join(databasePlace, 'embedded-directory-'))
})

afterEach(() => rmSync(directory, { recursive: true, force: true }))

test('a second process is rejected while the first one runs, and accepted after kill -9', async () => {
  const first = startChild(directory, 'hold')
  await first.until('open')
  const second = startChild(directory, 'hold')
  expect(await second.ended).toBe(1)
  expect(second.lines()).toEqual([
    'starting',
    `DataDirectoryError: The data directory ${directory} is in use by another process.`,
  ])
  await first.kill()
  const third = startChild(directory, 'close')
  expect(await third.ended).toBe(0)
  expect(third.lines()).toEqual(['starting', 'open', 'closed'])
}, 30_000)

test('exactly one of several processes that start simultaneously in a new directory gets it', async () => {
  const children = Array.from({ length: 4 }, () => startChild(directory, 'hold'))
  const outcomes = await Promise.all(
    children.map((child) =>
      child.until('open').then(
        () => 'open',
        () => 'refused',
      ),
    ),
  )
  expect(outcomes.sort()).toEqual(['open', 'refused', 'refused', 'refused'])
  await Promise.all(children.map((child) => child.kill()))
}, 60_000)

test('the same process cannot open the directory twice, but can after closing it', async () => {
  const database = await open()
  expect(await refusal()).toMatchObject({ problem: 'in_use' })
  await database.close()
  await (await open()).close()
}, 30_000)

test('an empty PostgreSQL lock file that a kill left does not block the directory', async () => {
  await (await open()).close()
  writeFileSync(join(directory, CLUSTER, 'postmaster.pid'), '')
  await (await open()).close()
}, 30_000)

test('only the owner may open the lock of the directory, also in a directory of an older version', async () => {
  const before = process.umask(0)
  try {
    writeFileSync(join(directory, 'cloakroom.lock'), '', { mode: 0o666 })
    const opened = await open()
    expect(statSync(join(directory, 'cloakroom.lock')).mode & 0o777).toBe(0o600)
    await opened.close()
  } finally {
    process.umask(before)
  }
}, 30_000)

test('data of another user is left untouched, also by root', async () => {
  await (await open()).close()
  const own = process.getuid?.() ?? 0
  const who = spyOn(process, 'getuid').mockReturnValue(own + 1)
  expect(await refusal()).toEqual({
    problem: 'foreign',
    message: `The data in ${directory} belongs to user ${own}, but this is user ${own + 1}. Run the command as that user. Nothing was changed.`,
  })
  who.mockRestore()
  await (await open()).close()
}, 60_000)

test('a foreign directory is rejected and left untouched', async () => {
  writeFileSync(join(directory, 'thesis.txt'), 'mine')
  expect(await refusal()).toEqual({
    problem: 'foreign',
    message: `The data directory ${directory} is not empty and was not created by Cloakroom. It was not changed.`,
  })
  expect(readdirSync(directory)).toEqual(['thesis.txt'])
  expect(readFileSync(join(directory, 'thesis.txt'), 'utf8')).toBe('mine')
})

test('a data directory of another PostgreSQL version is rejected with its version', async () => {
  writeFileSync(join(directory, 'cloakroom.lock'), '')
  mkdirSync(join(directory, 'postgres'))
  writeFileSync(join(directory, 'postgres', 'PG_VERSION'), '17\n')
  expect(await refusal()).toEqual({
    problem: 'other_version',
    message: `The data directory ${directory} was created by PostgreSQL 17; this build supports only 18.`,
  })
  expect(readdirSync(join(directory, 'postgres'))).toEqual(['PG_VERSION'])
})

test('a data directory without its version or control file is reported as damaged', async () => {
  await (await open()).close()
  truncateSync(join(directory, 'postgres', 'global', 'pg_control'), 100)
  expect(await refusal()).toMatchObject({ problem: 'damaged' })
  rmSync(join(directory, 'postgres', 'PG_VERSION'))
  expect(await refusal()).toEqual({
    problem: 'damaged',
    message: `The data directory ${directory} looks damaged: PG_VERSION cannot be read. Restore it from a backup.`,
  })
}, 30_000)

test("a data directory that PostgreSQL cannot open is reported as damaged, with PostgreSQL's message", async () => {
  await (await open()).close()
  rmSync(join(directory, 'postgres', 'pg_wal'), { recursive: true })
  mkdirSync(join(directory, 'postgres', 'pg_wal'))
  const { problem, message } = await refusal()
  expect(problem).toBe('damaged')
  expect(message).toContain('PANIC: could not locate a valid checkpoint record')
  expect(message.split('\n')).toHaveLength(1)
}, 30_000)

test('a path below a file is reported as not writable', async () => {
  const path = join(directory, 'file', 'data')
  writeFileSync(join(directory, 'file'), '')
  expect(await refusal(path)).toEqual({
    problem: 'not_writable',
    message: `The data directory ${path} cannot be written: part of the path is a file; pass a folder (ENOTDIR).`,
  })
})

test('a mount point with lost+found counts as empty', async () => {
  mkdirSync(join(directory, 'lost+found'))
  await (await open()).close()
  expect(readdirSync(directory).sort()).toEqual(['cloakroom.lock', 'lost+found', 'postgres'])
}, 30_000)

test('only the owner may list the data directory', async () => {
  const fresh = join(directory, 'fresh')
  const database = await openEmbedded({ dataDir: fresh, onFailure: fail })
  await database.close()
  const modes = [fresh, join(fresh, 'postgres')].map((path) => statSync(path).mode & 0o777)
  expect(modes).toEqual([0o700, 0o700])
}, 30_000)

function open(dataDir = directory): Promise<EmbeddedDatabase> {
  return openEmbedded({ dataDir, onFailure: fail })
}

async function refusal(dataDir = directory): Promise<{ problem: string; message: string }> {
  try {
    await open(dataDir)
  } catch (error) {
    if (error instanceof DataDirectoryError) {
      return { problem: error.problem, message: error.message }
    }
    throw error
  }
  throw new Error('the directory was accepted')
}

function fail(reason: string): void {
  throw new Error(reason)
}
