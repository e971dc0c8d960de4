// tier: all, both databases in test:all
/** `cloakroom backup` of a running server, and `cloakroom restore` into another place. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { listSecrets, upsertSecrets } from '../../../src/features/secrets/contract.ts'
import { writeWhole } from '../../../src/operator/backup/file.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { marked } from '../../support/canary.ts'
import {
  databaseKind,
  freshDatabase,
  preparedDatabase,
  type TestDatabase,
} from '../../support/database.ts'
import { openProject, type ProjectTeam } from '../../support/project.ts'
import { until } from '../../support/until.ts'
import { operate, scratch, start } from './support.ts'

const VALUE = marked('sk_live_backup_1')

let app: TestApp
let source: TestDatabase
let project: ProjectTeam
const files = scratch()
const whole = files.at('whole.backup')
const others: TestDatabase[] = []

async function emptyPlace(): Promise<TestDatabase> {
  const database = await freshDatabase()
  others.push(database)
  return database
}

const restore = (place: TestDatabase, ...args: string[]) => operate(place.env, 'restore', ...args)

beforeAll(async () => {
  source = await preparedDatabase()
  app = await startTestApp({}, { database: source })
  project = await openProject(app)
  const secrets = [{ key: 'STRIPE_KEY', value: project.seal('STRIPE_KEY', VALUE), policy: null }]
  await project.owner.api.call(upsertSecrets, { body: { project_id: project.projectId, secrets } })
  const { code, err } = await operate(source.env, 'backup', whole)
  expect({ code, err }).toMatchObject({ code: 0 })
}, 60_000)

afterAll(async () => {
  await app.stop()
  for (const database of [source, ...others]) database.remove()
  files.remove()
})

const lines = (path = whole) => gunzipSync(readFileSync(path)).toString().trimEnd().split('\n')

function altered(name: string, change: (lines: string[]) => string[]): string {
  const path = files.at(name)
  writeFileSync(path, gzipSync(`${change(lines()).join('\n')}\n`))
  return path
}

test('a running server is backed up, and the restored one serves the same data', async () => {
  expect(statSync(whole).mode & 0o777).toBe(0o600)
  const place = await emptyPlace()
  const { code, out, err } = await restore(place, whole)
  expect({ code, out, err }).toMatchObject({ code: 0, out: expect.stringContaining('restored ') })
  const copy = await startTestApp(
    { SIGNED_STATE_FILE: files.at('seen.sqlite') },
    { database: place },
  )
  try {
    const list = (server: TestApp) =>
      server.as(project.owner.token).call(listSecrets, {
        params: { project_id: project.projectId },
        query: { environment: 'development', include: 'value' },
      })
    expect(await list(copy)).toEqual(await list(app))
  } finally {
    await copy.stop()
  }
}, 60_000)

if (databaseKind === 'embedded') {
  test('a restore that is killed halfway leaves the previous database intact', async () => {
    const place = await preparedDatabase()
    others.push(place)
    const { DATA_DIR = '' } = place.env
    const before = readFileSync(join(DATA_DIR, 'postgres/global/pg_control'))
    const child = start(place.env, 'restore', '--force', whole)
    await until(() => readdirSync(DATA_DIR).some((name) => name.startsWith('postgres.new-')), {
      stepMs: 1,
    })
    child.kill('SIGKILL')
    await child.exited
    expect(readFileSync(join(DATA_DIR, 'postgres/global/pg_control'))).toEqual(before)
    const again = await restore(place, '--force', whole)
    expect(again).toMatchObject({ code: 0 })
    expect(readdirSync(DATA_DIR).filter((name) => name.startsWith('postgres.new-'))).toEqual([])
  }, 60_000)

  test('an existing database is replaced with --force only, and kept beside the new one', async () => {
    const place = await preparedDatabase()
    others.push(place)
    const { DATA_DIR = '' } = place.env
    const inside = readdirSync(DATA_DIR)
    const refused = await restore(place, whole)
    expect(refused).toMatchObject({ code: 5, err: expect.stringContaining('--force') })
    const other = { ...place.env, SECRET_KEY: 'another-secret-key-another-secret-key' }
    expect(await operate(other, 'restore', '--force', whole)).toMatchObject({ code: 78 })
    expect(readdirSync(DATA_DIR).sort()).toEqual(inside.sort())
    expect(await restore(place, '--force', whole)).toMatchObject({ code: 0 })
    const [kept = '', ...more] = readdirSync(DATA_DIR).filter((name) => !inside.includes(name))
    expect({ kept, more }).toEqual({ kept: expect.stringMatching(/^postgres\.before-/), more: [] })
    expect(existsSync(join(DATA_DIR, kept, 'PG_VERSION'))).toBeTrue()
  }, 60_000)
}

test('a backup with a recipient is encrypted, and only the matching identity restores it', async () => {
  const [key, stranger] = [await generateIdentity(), await generateIdentity()]
  const sealed = files.at('sealed.backup')
  const made = await operate(
    source.env,
    'backup',
    sealed,
    '--recipient',
    await identityToRecipient(key),
  )
  expect(made).toMatchObject({ code: 0 })
  expect(readFileSync(sealed).subarray(0, 21).toString()).toBe('age-encryption.org/v1')
  writeFileSync(files.at('key.txt'), `# made today\n${key}\n`)
  writeFileSync(files.at('stranger.txt'), `${stranger}\n`)
  const place = await emptyPlace()
  expect(await restore(place, sealed)).toMatchObject({
    code: 2,
    err: expect.stringContaining('--identity'),
  })
  expect(await restore(place, sealed, '--identity', files.at('stranger.txt'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('the given age keys cannot decrypt the backup'),
  })
  const cut = files.at('cut.sealed')
  writeFileSync(cut, readFileSync(sealed).subarray(0, -20))
  expect(await restore(place, cut, '--identity', files.at('key.txt'))).toMatchObject({ code: 2 })
  expect(await restore(place, sealed, '--identity', files.at('key.txt'))).toMatchObject({ code: 0 })
}, 60_000)

describe('a restore that is rejected before it writes', () => {
  const cases: [string, () => string, Record<string, string>, string][] = [
    [
      'a wrong key of the outer layer',
      () => whole,
      { ENCRYPTION_KEY: Buffer.alloc(32, 8).toString('base64url') },
      'ENCRYPTION_KEY cannot decrypt this backup',
    ],
    ['one that is cut off', () => altered('cut', (all) => all.slice(0, -1)), {}, 'truncated'],
    [
      'one in which a row is missing',
      () => altered('less', (all) => all.filter((line) => !line.includes('STRIPE_KEY'))),
      {},
      'sums are wrong',
    ],
    [
      'one whose header was changed',
      () =>
        altered('header', ([first = '', ...rest]) => [
          first.replace(/"created_at":"\d/, '"created_at":"3'),
          ...rest,
        ]),
      {},
      'MAC does not match',
    ],
    [
      'one of a later schema',
      () =>
        altered('later', ([first = '', ...rest]) => [
          first.replace(
            '"migrations":[',
            `"migrations":[{"name":"9999_later","sha256":"${'0'.repeat(64)}"},`,
          ),
          ...rest,
        ]),
      {},
      'probably later, version',
    ],
    [
      'one of a later format',
      () =>
        altered('format', ([first = '', ...rest]) => [
          first.replace('backup 1', 'backup 2'),
          ...rest,
        ]),
      {},
      'probably later, version',
    ],
    [
      'a foreign table',
      () =>
        altered('table', (all) =>
          all.map((line) => line.replace('{"table":"users"}', '{"table":"../../etc"}')),
        ),
      {},
      'table order is wrong',
    ],
    [
      'what follows the end',
      () => altered('more', (all) => [...all, '"x"']),
      {},
      'data after its end',
    ],
    [
      'another file',
      () => {
        writeFileSync(files.at('other'), 'hello')
        return files.at('other')
      },
      {},
      'the backup is invalid',
    ],
    ['a file that is not there', () => files.at('none'), {}, 'cannot be read'],
    [
      'a line without an end',
      () => {
        writeFileSync(files.at('long'), gzipSync(Buffer.alloc(80 * 1024 * 1024, 'a')))
        return files.at('long')
      },
      {},
      'too long',
    ],
    [
      'a header of age without an end',
      () => {
        writeFileSync(files.at('age'), `age-encryption.org/v1\n${'a'.repeat(1024 * 1024)}`)
        return files.at('age')
      },
      {},
      'header is incomplete',
    ],
  ]
  test.each(cases)(
    '%s',
    async (_, file, env, words) => {
      const place = await emptyPlace()
      const { code, err } = await operate({ ...place.env, ...env }, 'restore', file())
      expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining(words) })
      const { DATA_DIR } = place.env
      if (DATA_DIR !== undefined) expect(existsSync(DATA_DIR)).toBeFalse()
    },
    60_000,
  )
})

test('a backup does not replace a file, and leaves no file if it fails', async () => {
  const before = readFileSync(whole)
  expect(await operate(source.env, 'backup', whole)).toMatchObject({ code: 5 })
  expect(readFileSync(whole)).toEqual(before)
  const wrong = await operate(source.env, 'backup', files.at('wrong'), '--recipient', 'age1nobody')
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('age1…') })
  expect(readdirSync(files.at('.')).filter((name) => /wrong|\.part$/.test(name))).toEqual([])
}, 60_000)

test('the last of two backups with one name wins, and the file is never a mix of both', async () => {
  const path = files.at('two.backup')
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const first = writeWhole(path, async (part) => {
    writeFileSync(part, 'first')
    begun.resolve()
    await goOn.promise
  })
  await begun.promise
  const second = writeWhole(path, async (part) => {
    writeFileSync(part, 'half')
    goOn.resolve()
    await expect(first).rejects.toThrow(`another backup to ${path} started`)
    expect(existsSync(path)).toBe(false)
    writeFileSync(part, 'whole')
  })
  await second
  expect(readFileSync(path, 'utf8')).toBe('whole')
  expect(readdirSync(files.at('.')).filter((name) => name.startsWith('two'))).toEqual([
    'two.backup',
  ])
})
