// tier: all
/** A backup that is killed, or has no room: no partial file has its name, and the next one succeeds. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../../src/core/config/config.ts'
import { openLog } from '../../../src/core/log.ts'
import { openDatabase } from '../../../src/database/open.ts'
import { prepareDatabase } from '../../../src/database/prepare.ts'
import { freshDatabase, preparedDatabase, type TestDatabase } from '../../support/database.ts'
import { requires } from '../../support/requires.ts'
import { until } from '../../support/until.ts'
import { watched } from '../../support/watched.ts'
import { KEYS, MAIN, operate, scratch, start } from './support.ts'

const files = scratch()
const others: TestDatabase[] = []
let source: TestDatabase

const change = async (statement: string) => {
  const config = readConfig({ ...KEYS, ...source.env }, () => KEYS)
  const connection = await openDatabase(config, () => {})
  await prepareDatabase(connection, config, openLog('error'))
  await connection.sql.unsafe(statement)
  await connection.close()
}

beforeAll(async () => {
  source = await preparedDatabase()
  others.push(source)
  // 16 MB that do not compress, which leaves time for a kill.
  await change(`insert into audit_refused (id, intent, code)
    select gen_random_uuid(), (select string_agg(md5(random()::text || n || m), '')
      from generate_series(1, 1000) m), 'XX000' from generate_series(1, 500) n`)
}, 60_000)
afterAll(() => {
  for (const database of others) database.remove()
  files.remove()
})

const partIn = (folder: string) =>
  until(() => readdirSync(folder).some((name) => name.endsWith('.part')), { stepMs: 1 })
const wholeIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.backup'))

async function demandRestorable(file: string): Promise<void> {
  const place = await freshDatabase()
  others.push(place)
  expect(await operate(place.env, 'restore', file)).toMatchObject({ code: 0 })
}

test('a `backup` killed by kill -9 leaves no file under the name, and succeeds when it is run again', async () => {
  const folder = files.at('asked')
  mkdirSync(folder)
  expect(await operate(source.env, 'backup', join(folder, 'first.backup'))).toMatchObject({
    code: 0,
  })
  const file = join(folder, 'second.backup')
  const child = start(source.env, 'backup', file)
  await partIn(folder)
  child.kill('SIGKILL')
  await child.exited
  expect(wholeIn(folder)).toEqual(['first.backup'])
  expect(await operate(source.env, 'backup', file)).toMatchObject({ code: 0 })
  expect(readdirSync(folder).sort()).toEqual(['first.backup', 'second.backup'])
  await demandRestorable(file)
}, 60_000)

test('a server that is killed during a scheduled backup makes it after the next start', async () => {
  const folder = files.at('by-clock')
  mkdirSync(folder)
  const env = { ...source.env, BACKUP_DIR: folder, PORT: '0', RESOLVER_PORT: '0' }
  const child = start(env, 'serve')
  await partIn(folder)
  child.kill('SIGKILL')
  await child.exited
  expect(wholeIn(folder)).toEqual([])
  // Simulates the end of the minute in which one process may try.
  await change('update instance set backup_minute = backup_minute - 1')
  const again = start(env, 'serve')
  await until(() => wholeIn(folder).length > 0)
  again.kill('SIGTERM')
  expect(await again.exited).toBe(0)
  const [name = ''] = wholeIn(folder)
  await demandRestorable(join(folder, name))
}, 60_000)

requires('bash').test(
  'a disk that fills up during a backup has its own exit code, and no file is left',
  async () => {
    const folder = files.at('full')
    mkdirSync(folder)
    const file = join(folder, 'some.backup')
    const server =
      source.env.DATA_DIR === undefined
        ? null
        : start({ ...source.env, PORT: '0', RESOLVER_PORT: '0' }, 'serve')
    if (server) await until(() => existsSync(join(source.env.DATA_DIR ?? '', 'backup.sock')))
    // A file size limit of one megabyte simulates the full disk.
    const limited = `ulimit -f 1024; trap '' XFSZ; exec "$0" "$@"`
    const child = watched(
      Bun.spawn(['bash', '-c', limited, process.execPath, MAIN, 'backup', file, '--json'], {
        env: { PATH: process.env.PATH ?? '', HOME: files.at('.'), ...KEYS, ...source.env },
        stdout: 'pipe',
        stderr: 'pipe',
      }),
    )
    const said = await new Response(child.stderr).text()
    expect({ code: await child.exited, said }).toEqual({
      code: 1,
      said: expect.stringContaining('"code":"disk_full"'),
    })
    expect(readdirSync(folder)).toEqual([])
    server?.kill('SIGTERM')
    await server?.exited
    expect(await operate(source.env, 'backup', file)).toMatchObject({ code: 0 })
  },
  60_000,
)
