// tier: all, both databases in test:all
/** `cloakroom rekey-outer`, beside a running server. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { KEY_CHECK, SEALED } from '../../../src/database/schema/sealed.ts'
import { getSecret } from '../../../src/features/secrets/contract.ts'
import { startTestApp } from '../../support/app.ts'
import { databaseKind } from '../../support/database.ts'
import { requires } from '../../support/requires.ts'
import { until } from '../../support/until.ts'
import { operate, type Ran, start } from '../backup/support.ts'
import {
  BOTH,
  countsOf,
  type Filled,
  idOf,
  NEW,
  OLD,
  OTHER,
  openFilled,
  putUnderOld,
} from './support.ts'

let filled: Filled

beforeAll(async () => {
  filled = await openFilled()
}, 60_000)
afterAll(() => filled.stage.stop())

const sql = () => filled.app.connection.sql
const run = (...args: string[]) => operate(filled.env, 'rekey-outer', ...args)
const lines = ({ out }: Ran): Record<string, unknown>[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

async function resolves(): Promise<number> {
  const body = {
    target_url: filled.stage.url('/bearer'),
    method: 'GET',
    headers: { Authorization: 'Bearer SVC_KEPT' },
  }
  return (await filled.agent.resolve(body)).status
}

test('every column under the outer layer is in the one list, and has a row in this test', async () => {
  const columns = await sql()<{ table: string; column: string; type: string }[]>`
    select table_name as table, column_name as column, data_type as type
    from information_schema.columns where table_schema = current_schema()
      and data_type in ('bytea', 'text', 'json', 'jsonb', 'ARRAY')`
  expect(columns.length).toBeGreaterThan(60)
  const found: string[] = []
  for (const { table, column, type } of columns) {
    const text = type === 'bytea' ? `encode("${column}", 'hex')` : `"${column}"::text`
    // In hexadecimal, base64 or base64url: the version and the id of the key, at the start of the text or of a string in it.
    const start = Buffer.from(`01${idOf(NEW)}`, 'hex')
    const forms = [start.toString('hex'), start.toString('base64').slice(0, 6)]
    const rows = await sql().unsafe(
      `select 1 from "${table}" where ${forms.map((form) => `strpos(${text}, '${form}') > 0`).join(' or ')} limit 1`,
    )
    if (rows.length > 0) found.push(`${table}.${column}`)
  }
  const listed = [...SEALED, KEY_CHECK].map(({ table, column }) => `${table}.${column}`)
  expect(found.sort()).toEqual(listed.sort())
})

test('a rekey puts every row under the first key while calls continue, and names the key that may be removed', async () => {
  await putUnderOld(filled)
  const before = await countsOf(filled)
  expect(before).toMatchObject({ underNew: 0 })
  const versions = () => sql()`select id, policy_version from workspaces order by id`
  const policyVersions = await versions()
  expect(await resolves()).toBe(200)
  const ran = await run('--json')
  expect(ran).toMatchObject({ code: 0 })
  expect(lines(ran).at(-1)).toMatchObject({
    event: 'done',
    key: idOf(NEW),
    resealed: before.underOld,
    unreadable: 0,
    unused_keys: [idOf(OLD)],
    needed_keys: {},
  })
  expect(await countsOf(filled)).toMatchObject({ underNew: before.underOld, underOld: 0 })
  expect(await resolves()).toBe(200)
  expect(await versions()).toEqual(policyVersions)
}, 60_000)

test('a repeated rekey changes no row, and a dry run writes nothing', async () => {
  const blobs = () => sql()`select id, value from secrets order by id`
  const before = await blobs()
  expect(lines(await run('--json')).at(-1)).toMatchObject({ resealed: 0 })
  expect(await blobs()).toEqual(before)
  await putUnderOld(filled)
  const old = await blobs()
  const dry = await run('--dry-run')
  expect(dry).toMatchObject({ code: 0, out: expect.stringContaining('would reseal ') })
  expect(await blobs()).toEqual(old)
}, 60_000)

test('a killed rekey continues, and does not repeat completed rows', async () => {
  await putUnderOld(filled)
  const child = start(filled.env, 'rekey-outer', '--batch', '1', '--pause', '100')
  await until(async () => (await countsOf(filled)).underNew >= 3)
  child.kill('SIGKILL')
  await child.exited
  const blobs = async () => {
    const rows = await sql()<{ id: string; blob: Uint8Array }[]>`
      select id, encrypted_private_key as blob from users order by id`
    return rows.filter(({ blob }) => Buffer.from(blob).subarray(1, 5).toString('hex') === idOf(NEW))
  }
  const done = await blobs()
  const { underOld } = await countsOf(filled)
  expect({ done: done.length > 0, underOld: underOld > 0 }).toEqual({ done: true, underOld: true })
  let again = await run('--json')
  // The server detects the disconnected command when it next sends a message.
  while (again.code !== 0 && again.err.includes('another rekey-outer')) again = await run('--json')
  expect(again).toMatchObject({ code: 0 })
  expect(await countsOf(filled)).toMatchObject({ underOld: 0 })
  expect(await blobs()).toEqual(expect.arrayContaining(done))
}, 60_000)

test('no value that is written during a rekey is lost', async () => {
  await putUnderOld(filled)
  const { agent } = filled
  const child = start(filled.env, 'rekey-outer', '--batch', '1', '--json')
  let written = 0
  while (child.exitCode === null) {
    written += 1
    await agent.store('BUSY', `sk_live_busy_${written}`)
    const params = { project_id: agent.projectId, key: 'BUSY' }
    const query = { environment: agent.environment }
    expect(await agent.person.api.call(getSecret, { params, query })).toMatchObject({
      version: written,
    })
  }
  expect(await child.exited).toBe(0)
  expect(await countsOf(filled)).toMatchObject({ underOld: 0 })
  const versions = await sql()`
    select v.version from secret_versions v join secrets s on s.id = v.secret_id
    where s.key = 'BUSY' order by v.version desc limit 1`
  expect([...versions]).toEqual([{ version: written }])
  expect(await resolves()).toBe(200)
}, 60_000)

test('a second rekey names the process of the first', async () => {
  await putUnderOld(filled)
  const first = start(filled.env, 'rekey-outer', '--batch', '1', '--pause', '300')
  await until(async () => (await countsOf(filled)).underNew >= 1)
  expect(await run()).toMatchObject({
    code: 1,
    err: expect.stringMatching(/another rekey-outer is running: .* since \d{4}-/),
  })
  first.kill('SIGTERM')
  await first.exited
}, 60_000)

test('a row that does not open is named, left unchanged, and keeps its key', async () => {
  await putUnderOld(filled)
  const [{ id, value } = {}] = await sql()`select id, value from secrets where key = 'KEPT'`
  await sql()`update secrets set value = set_byte(value, 30, get_byte(value, 30) # 1) where id = ${id}`
  const [altered] = await sql()`select value from secrets where id = ${id}`
  const { code, out, err } = await run()
  expect(code).toBe(1)
  expect(err).toContain(`secrets.value of ${id}`)
  expect(err).toContain(`the key ${idOf(OLD)} is still needed`)
  expect(out).not.toContain('is no longer used')
  expect((await sql()`select value from secrets where id = ${id}`)[0]).toEqual(altered)
  expect(await countsOf(filled)).toMatchObject({ underOld: 1 })
  await sql()`update secrets set value = ${value} where id = ${id}`
  expect(await run()).toMatchObject({ code: 0 })
}, 60_000)

{
  const { test } = requires('postgresql')
  test('a process that writes with the old key keeps that key in use, and one without the new key stops the rekey', async () => {
    const { DB_HOST = '', DB_PORT = '', DB_NAME = '', DB_USER = '' } = filled.env
    const database = { env: { DB_HOST, DB_PORT, DB_NAME, DB_USER }, remove: () => {} }
    const beside = await startTestApp({ ENCRYPTION_KEY: `${OLD},${NEW}` }, { database })
    try {
      expect(await run('--json')).toMatchObject({ code: 1 })
      expect(lines(await run('--json')).at(-1)).toMatchObject({
        unused_keys: [],
        needed_keys: { [idOf(OLD)]: 'process' },
      })
    } finally {
      await beside.stop()
    }
    await putUnderOld(filled)
    const without = await startTestApp({ ENCRYPTION_KEY: OLD }, { database })
    try {
      const before = await countsOf(filled)
      expect(await run()).toMatchObject({
        code: 1,
        err: expect.stringMatching(
          new RegExp(`without the key .*backend \\d+ of ${DB_USER}, from .*, with ${idOf(OLD)}`),
        ),
      })
      expect(await countsOf(filled)).toEqual(before)
    } finally {
      await without.stop()
    }
    expect(await run()).toMatchObject({ code: 0 })
  }, 60_000)
}

if (databaseKind === 'embedded') {
  test('a server that runs with another first key is not asked to rekey to that key', async () => {
    const env = { ...filled.env, ENCRYPTION_KEY: `${OTHER},${BOTH}` }
    expect(await operate(env, 'rekey-outer')).toMatchObject({
      code: 1,
      err: expect.stringContaining(`the server's first key is ${idOf(NEW)}`),
    })
  })
}
