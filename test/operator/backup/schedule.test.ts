// tier: all
/**
 * Scheduled backups: one of several processes makes each, the oldest are deleted, and a failure is reported
 * everywhere.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, readConfig } from '../../../src/core/config/config.ts'
import { openLog } from '../../../src/core/log.ts'
import { reportInstance } from '../../../src/features/instance/contract.ts'
import { backUpOnSchedule, makeUpForMissed } from '../../../src/operator/backup/schedule.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Person, registerPerson } from '../../support/people.ts'
import { until } from '../../support/until.ts'
import { KEYS, operate, scratch } from './support.ts'

const files = scratch()
const folder = files.at('backups')
const MINUTE_MS = 60_000

let app: TestApp
let owner: Person
const outcomes: string[] = []

beforeAll(async () => {
  app = await startTestApp({ BACKUP_DIR: folder, BACKUP_SCHEDULE: '0 0 1 1 *', BACKUP_KEEP: '2' })
  owner = await registerPerson(app)
  // The first backup is made at the start.
  await until(async () => (await report()).last_backup)
  rmSync(folder, { recursive: true })
}, 60_000)
afterEach(() => rmSync(folder, { recursive: true, force: true }))
afterAll(async () => {
  await app.stop()
  files.remove()
})

function backUp(place = folder) {
  const { connection, config, clock } = app
  const log = openLog('debug', (line) => app.logs.push(line))
  const observe = (outcome: string) => outcomes.push(outcome)
  return backUpOnSchedule({ connection, config, clock, log, observe }, place)
}

const report = () => owner.api.call(reportInstance, {})

test('one of several processes makes the backup, and it can be restored', async () => {
  app.clock.advance(MINUTE_MS)
  const made = await Promise.all([backUp(), backUp(), backUp()])
  expect(made.filter(Boolean)).toHaveLength(1)
  const [name = '', ...more] = readdirSync(folder)
  expect(more).toEqual([])
  expect(await report()).toMatchObject({
    last_backup: { at: expect.any(String) },
    backup_failed_at: null,
  })
  const place = { DATA_DIR: files.at('restored') }
  expect(await operate(place, 'restore', join(folder, name))).toMatchObject({ code: 0 })
}, 60_000)

test('BACKUP_KEEP backups stay, and so do foreign files', async () => {
  mkdirSync(folder)
  writeFileSync(join(folder, 'notes.txt'), '')
  for (const part of ['part', '0123abcd.part'])
    writeFileSync(join(folder, `cloakroom-20200101T000000Z.backup.${part}`), '')
  const folders = ['backup', 'backup.part'].map((end) => `cloakroom-20000101T000000Z.${end}`)
  for (const name of folders) mkdirSync(join(folder, name))
  const made: string[] = []
  for (let round = 0; round < 4; round += 1) {
    app.clock.advance(MINUTE_MS)
    expect(await backUp()).toBeTrue()
    made.push(...readdirSync(folder).filter((name) => !made.includes(name)))
  }
  const left = readdirSync(folder).sort()
  expect(left).toEqual([
    ...folders,
    ...made.filter((name) => name.startsWith('cloakroom-2') && !folders.includes(name)).slice(-2),
    'notes.txt',
  ])
})

test('a missed backup is made later, once by one of several processes, and never before it is due', async () => {
  const { connection, config, clock } = app
  const log = openLog('debug', (line) => app.logs.push(line))
  const year = 366 * 1440 * MINUTE_MS
  const makeUp = () => makeUpForMissed({ connection, config, clock, log }, folder)
  app.clock.advance(MINUTE_MS)
  expect(await makeUp()).toBeFalse()
  app.clock.advance(year)
  expect((await Promise.all([makeUp(), makeUp()])).filter(Boolean)).toHaveLength(1)
  app.clock.advance(MINUTE_MS)
  expect(await makeUp()).toBeFalse()
  // A clock that was wrong neither stops all backups nor removes the new one.
  app.clock.advance(-year)
  expect(await backUp()).toBeTrue()
  app.clock.advance(MINUTE_MS)
  expect(await backUp()).toBeTrue()
  const now = new Date(app.clock.now()).toISOString().replaceAll(/[-:]|T.*/g, '')
  expect(readdirSync(folder).some((name) => name.includes(now))).toBeTrue()
})

test('a failure is in the log, the metrics and the report, until a backup succeeds', async () => {
  app.clock.advance(MINUTE_MS)
  writeFileSync(folder, 'a file where the folder should be')
  outcomes.splice(0)
  expect(await backUp()).toBeFalse()
  expect(outcomes).toEqual(['failed'])
  expect(app.logs.join()).toContain('"message":"backup failed"')
  expect(await report()).toMatchObject({ backup_failed_at: expect.any(String) })
  rmSync(folder)
  app.clock.advance(MINUTE_MS)
  expect(await backUp()).toBeTrue()
  expect(outcomes).toEqual(['failed', 'made'])
  expect(await report()).toMatchObject({ backup_failed_at: null })
  expect(existsSync(folder)).toBeTrue()
})

test('a wrong pattern or recipient stops the start', () => {
  const read = (env: Record<string, string>) => () => readConfig({ ...KEYS, ...env }, () => KEYS)
  expect(read({ BACKUP_SCHEDULE: 'daily at noon' })).toThrow(ConfigError)
  expect(read({ BACKUP_RECIPIENTS: 'AGE-SECRET-KEY-1X' })).toThrow(ConfigError)
  expect(read({ BACKUP_SCHEDULE: '0 */6 * * *', BACKUP_RECIPIENTS: 'age1abc' })).not.toThrow()
})
