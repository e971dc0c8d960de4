// tier: all, both databases in test:all
/** `cloakroom upgrade --check`: reports what a start would do, and writes nothing. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '../../package.json'
import { EX_CONFIG } from '../../src/core/exit_codes.ts'
import { migrate, migrations } from '../../src/database/migrations/migrate.ts'
import type { UpgradeReport } from '../../src/operator/upgrade_check/report.ts'
import {
  conclude,
  reportLines,
  type UpgradeFacts,
} from '../../src/operator/upgrade_check/report.ts'
import { scriptOf } from '../docs/blocks.ts'
import { operate } from '../operator/backup/support.ts'
import { startTestApp } from '../support/app.ts'
import { databaseKind, freshDatabase, type TestDatabase } from '../support/database.ts'
import { readFixture } from './fixture.ts'
import { change, configOf, restored } from './restored.ts'

const fixture = readFixture('0016_refused_by')
const NEWEST = migrations.at(-1)?.name ?? ''
let database: TestDatabase

beforeAll(async () => {
  database = await restored(fixture)
})

afterAll(() => database.remove())

async function check(env: Record<string, string> = {}) {
  const { code, out, err } = await operate(
    { ...fixture.keys, ...database.env, ...env },
    ...['upgrade', '--check', '--json'],
  )
  return { code, err, report: (out === '' ? null : JSON.parse(out)) as UpgradeReport }
}

/** Everything that a write would change. */
function stateOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { size, mtimeMs, ino } = statSync(join(directory, name))
      return `${name} ${size} ${mtimeMs} ${ino}`
    })
}

describe('the check of an older database', () => {
  test('the check names pending migrations, their effects and what they block, and writes no byte', async () => {
    const { DATA_DIR } = database.env
    const before = DATA_DIR ? stateOf(DATA_DIR) : []
    const { code, report } = await check()
    expect(DATA_DIR ? stateOf(DATA_DIR) : []).toEqual(before)
    expect(report.schema).toEqual({ database: '0016_refused_by', program: NEWEST })
    expect(report.pending.map(({ name }) => name)).toEqual(
      migrations.slice(17).map(({ name }) => name),
    )
    expect(report.pending[0]).toEqual({
      name: '0017_session_passkeys',
      does: ['adds a column to sessions', 'checks a key of sessions', 'makes an index of sessions'],
      blocks: 'everybody',
      works_through: [{ table: 'sessions', bytes: expect.any(Number) }],
      breaks_older: false,
    })
    expect(report.problems).toEqual([])
    expect(report.warnings).toEqual(['back up first: no scheduled backup is recorded'])
    expect({ code, verdict: report.verdict }).toEqual({ code: 1, verdict: 1 })
  })

  test('a backup of today in BACKUP_DIR leaves no warning: 0', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'cr-backups-'))
    const name = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
    writeFileSync(join(directory, `cloakroom-${name}.backup`), '')
    const { code, report } = await check({ BACKUP_DIR: directory })
    rmSync(directory, { recursive: true })
    expect({ code, warnings: report.warnings }).toEqual({ code: 0, warnings: [] })
  })

  test('a key that does not open the data is found before a start: 2', async () => {
    const ENCRYPTION_KEY = Buffer.alloc(32, 9).toString('base64url')
    const { code, report } = await check({ ENCRYPTION_KEY })
    expect(code).toBe(2)
    expect(report.problems).toEqual([
      expect.stringContaining('ENCRYPTION_KEY: cannot decrypt the data'),
    ])
  })

  test('settings that a start would reject are 78, and without --check nothing is checked', async () => {
    expect((await check({ PORT: 'eighty' })).code).toBe(EX_CONFIG)
    const { code, err } = await operate({ ...fixture.keys, ...database.env }, 'upgrade')
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('add --check') })
  })

  test('a start applies the listed migrations, and then none is pending: 0', async () => {
    const app = await startTestApp(fixture.keys, { database })
    let running = await check()
    // It reports its version as soon as it listens for notices.
    while (databaseKind === 'postgresql' && running.report.processes.length === 0)
      running = await check()
    if (databaseKind === 'embedded')
      expect(running).toMatchObject({
        code: 2,
        report: { problems: ['a running server uses DATA_DIR: stop it first'] },
      })
    else
      expect(running.report.processes).toEqual([{ version: `${version} ${NEWEST}`, processes: 1 }])
    await app.stop()
    const { code, report } = await check()
    expect({ code, report }).toMatchObject({
      code: 0,
      report: { schema: { database: NEWEST, program: NEWEST }, pending: [], warnings: [] },
    })
  })

  test('a later schema that excludes this version is 2, with its code', async () => {
    await change(configOf(fixture, database), async ({ sql }) => {
      const later = { name: '9999_later', text: 'select 1', breaksOlder: true as const }
      await migrate(sql, [...migrations, later])
    })
    const { code, report } = await check()
    expect(code).toBe(2)
    expect(report.problems).toEqual([expect.stringMatching(/^newer_schema: .*9999_later/)])
    await change(configOf(fixture, database), async ({ sql }) => {
      await sql`update cloakroom_migrations set name = ${'9999_\u001b[31mlater'} where name = '9999_later'`
    })
    const shown = await operate({ ...fixture.keys, ...database.env }, 'upgrade', '--check')
    expect(shown.out).toContain('9999_?[31mlater')
    expect(`${shown.out}${shown.err}`).not.toContain('\u001b')
  })
})

test('a missing database needs no upgrade, and none is created', async () => {
  const empty = await freshDatabase()
  const { DATA_DIR } = empty.env
  if (DATA_DIR !== undefined) mkdirSync(DATA_DIR)
  const { code, report } = await check({ ...empty.env, ...fixture.keys })
  expect({ code, schema: report.schema.database }).toEqual({ code: 0, schema: null })
  if (DATA_DIR !== undefined) expect(readdirSync(DATA_DIR)).toEqual([])
  empty.remove()
})

describe('conclusions of the check', () => {
  const MIB = 1024 * 1024
  const now = Date.parse('2026-11-23T12:00:00Z')
  const facts: UpgradeFacts = {
    schema: { database: '0018_backups', program: '0019_next' },
    pending: [
      {
        name: '0019_next',
        does: ['makes an index of audit_logs'],
        blocks: 'writers',
        works_through: [{ table: 'audit_logs', bytes: 900 * MIB }],
        breaks_older: true,
      },
    ],
    space: { needed_bytes: 1800 * MIB, free_bytes: 500 * MIB },
    backup: { newest: '2026-11-22T10:00:00Z' },
    processes: [{ version: null, processes: 2 }],
    problems: [],
  }

  test('a large table, a full disk, an old backup and older processes each have a warning', () => {
    const report = conclude(facts, now)
    expect(report.verdict).toBe(1)
    expect(report.warnings).toEqual([
      'choose a time with little traffic: 0019_next scans audit_logs (900 MiB) and blocks writes to it',
      'stop the other processes first: older versions are incompatible with 0019_next',
      'the upgrade may need 1800 MiB, but only 500 MiB are free',
      'back up first: the newest scheduled backup is 26 hours old',
    ])
    expect(reportLines(report, now)).toContain('processes   2 of an unknown version\n')
  })

  test('items that were not checked are not reported as absent', () => {
    const schema = { database: null, program: NEWEST }
    const problems = ['a running server uses DATA_DIR: stop it first']
    const unseen = {
      ...facts,
      schema,
      pending: [],
      backup: { newest: null },
      processes: [],
      problems,
    }
    expect(reportLines(conclude(unseen, now), now)).toBe(
      'FAILED      a running server uses DATA_DIR: stop it first\n',
    )
  })

  test('names in the database send no escapes to the terminal, and add no line', () => {
    const database = '9999_\u001b[31mlater\nFAILED      all is lost'
    const lines = reportLines(
      conclude({ ...facts, schema: { database, program: NEWEST } }, now),
      now,
    )
    expect(lines.split('\n').filter((line) => line.startsWith('FAILED'))).toEqual([])
  })

  test('no warning is printed if nothing is pending', () => {
    expect(conclude({ ...facts, pending: [] }, now)).toMatchObject({ verdict: 0, warnings: [] })
  })

  test('docs/guides/upgrade.md shows the printed output', () => {
    const does = [
      'adds a column to sessions',
      'checks a key of sessions',
      'makes an index of sessions',
    ]
    const shown = conclude(
      {
        ...facts,
        schema: { database: '0016_refused_by', program: '0018_backups' },
        pending: [
          {
            name: '0017_session_passkeys',
            does,
            blocks: 'everybody',
            works_through: [],
            breaks_older: false,
          },
          {
            name: '0018_backups',
            does: ['adds a column to instance'],
            blocks: 'everybody',
            works_through: [],
            breaks_older: false,
          },
        ],
        space: { needed_bytes: 97 * MIB, free_bytes: 21_034 * MIB },
        backup: { newest: null },
        processes: [{ version: '0.1.0 0016_refused_by', processes: 2 }],
      },
      now,
    )
    expect(scriptOf('docs/guides/upgrade.md', 'printed')).toBe(reportLines(shown, now))
  })
})
