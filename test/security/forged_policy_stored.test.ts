// tier: all
/**
 * A policy that is altered in the database makes its secret unreadable. Storing a new value would make the altered
 * policy valid, and silently drop the limits, so the old value is opened with it first.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { openAccount, type Terminal } from '../cli/person.ts'
import { startTestApp, type TestApp } from '../support/app.ts'

const NARROW = '{"allowed_methods":["GET"],"allowed_paths":["/v1"]}'
const WIDE = '{"allowed_domains":["evil.example"]}'

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await startTestApp()
  ada = await openAccount(app, 'ada@example.com')
  await ada.must('init', 'payments')
})
afterAll(async () => {
  ada.remove()
  await app.stop()
})
beforeEach(() => ada.must('secrets', 'set', 'A_KEY=old value', '--policy', NARROW).then(() => {}))

const forge = (policy: string | null) =>
  app.connection.sql`update secrets set policy = ${policy}::text::jsonb where key = 'A_KEY'`

async function stored() {
  const [found] = (await app.connection.sql`
    select policy, version from secrets where key = 'A_KEY'`) as never as {
    policy: unknown
    version: number
  }[]
  return found
}

const ways: [string, string[]][] = [
  ['set', ['secrets', 'set', 'A_KEY=new value']],
  ['set --sensitive', ['secrets', 'set', 'A_KEY=new value', '--sensitive']],
  ['set --from-file', ['secrets', 'set', '--from-file', 'new.env']],
  ['push', ['secrets', 'push', 'new.env']],
]

for (const [what, policy] of [
  ['lost', null],
  ['widened', WIDE],
] as const) {
  test.each(ways)(`%s rejects a policy that was ${what}, and stores nothing`, async (_, args) => {
    ada.write('new.env', 'A_KEY=new value\nB_KEY=another\n')
    await forge(policy)
    const before = await stored()
    const { code, err } = await ada.run([...args, '--json'])
    expect(code).toBe(5)
    expect(JSON.parse(err.trim().split('\n').at(-1) ?? '').error).toMatchObject({
      code: 'unproven_policy',
      message:
        'A_KEY: the stored value cannot be decrypted with the policy from the server; nothing was stored',
    })
    expect(await stored()).toEqual(before)
    expect(await ada.json('secrets', 'list')).toHaveLength(1)
  })
}

test('a given policy is stored, and so is an unaltered one', async () => {
  await forge(null)
  await ada.must('secrets', 'set', 'A_KEY=new value', '--policy', NARROW)
  await ada.must('secrets', 'set', 'A_KEY=newer value')
  expect((await stored())?.policy).toEqual(JSON.parse(NARROW))
  expect(await ada.reveal('secrets', 'get', 'A_KEY')).toBe('newer value')
  await forge(WIDE)
  await ada.must('secrets', 'set', 'A_KEY=free value', '--policy', 'null')
  expect((await stored())?.policy).toBeNull()
})

test('many concurrent policies are verified too', async () => {
  const names = Array.from({ length: 15 }, (_, index) => `MANY_${index}_KEY`)
  await ada.must('secrets', 'set', ...names.map((name) => `${name}=first one`), '-e', 'staging')
  await ada.must('secrets', 'set', ...names.map((name) => `${name}=second one`), '-e', 'staging')
  await app.connection
    .sql`update secrets set policy = ${WIDE}::text::jsonb where key = 'MANY_7_KEY'`
  const again = ['secrets', 'set', ...names.map((name) => `${name}=third one`), '-e', 'staging']
  const { code, err } = await ada.run(again)
  expect([code, err]).toEqual([5, expect.stringContaining('MANY_7_KEY: the stored value')])
})

test('a rollback requires a policy if the current one is not the one of its value', async () => {
  await ada.must('secrets', 'set', 'C_KEY=first one', '--policy', WIDE)
  await ada.must('secrets', 'set', 'C_KEY=second one', '--policy', NARROW)
  await app.connection.sql`update secrets set policy = ${WIDE}::text::jsonb where key = 'C_KEY'`
  const refused = await ada.run(['secrets', 'rollback', 'C_KEY', '1'])
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--yes')])
  await ada.must('secrets', 'rollback', 'C_KEY', '1', '--yes')
  expect(await ada.reveal('secrets', 'get', 'C_KEY')).toBe('first one')
})

test('a rollback rejects an earlier version if its policy is not the one of its value', async () => {
  await ada.must('secrets', 'set', 'D_KEY=first one', '--policy', NARROW)
  await ada.must('secrets', 'set', 'D_KEY=second one', '--policy', NARROW)
  await app.connection.sql`
    update secret_versions set policy = ${WIDE}::text::jsonb where version = 1
    and secret_id = (select id from secrets where key = 'D_KEY')`
  const back = ['secrets', 'rollback', 'D_KEY', '1', '--yes', '--json']
  const { code, err } = await ada.run(back)
  expect([code, JSON.parse(err).error.code]).toEqual([5, 'unproven_policy'])
  expect(await ada.reveal('secrets', 'get', 'D_KEY')).toBe('second one')
  expect((await ada.run(['secrets', 'get', 'D_KEY', '--version', '1'])).code).toBe(1)
  await ada.must('secrets', 'set', 'D_KEY=third one')
  await ada.must('secrets', 'rollback', 'D_KEY', '2')
  expect(await ada.reveal('secrets', 'get', 'D_KEY')).toBe('second one')
})
