// tier: quick
/** Secrets and tokens of a signed workspace on the command line, with an honest database and a lying one. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { OuterLayer } from '../../src/core/crypto/outer_layer.ts'
import { openStoredSecret, sealStoredSecret } from '../../src/features/secrets/sealed.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import type { Terminal } from './person.ts'
import { loggedIn, signedAccount } from './signed_person.ts'

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await startTestApp()
  ada = await signedAccount(app, 'ada@example.com')
  await ada.must('init', 'billing')
})
afterAll(async () => {
  ada.remove()
  await app.stop()
})

const sql = () => app.connection.sql
const revisions = async (environment = 'development') => {
  const [row] = await sql()`select revision from manifests where environment = ${environment}`
  return row?.revision ?? 0
}

test('secrets are set, pushed, shown, copied, rolled back, deleted and restored', async () => {
  await ada.must('secrets', 'set', 'STRIPE_KEY=sk_one', 'OTHER=first')
  await ada.must('secrets', 'set', 'STRIPE_KEY=sk_two')
  expect(await ada.reveal('secrets', 'get', 'STRIPE_KEY')).toBe('sk_two')
  await ada.must('secrets', 'rollback', 'STRIPE_KEY', '1', '--yes')
  ada.write('.env', 'STRIPE_KEY=sk_three\nADDED=more\n')
  await ada.must('secrets', 'push', '.env', '--prune', '--yes')
  expect(await ada.json('secrets', 'list')).toMatchObject([{ key: 'ADDED' }, { key: 'STRIPE_KEY' }])
  await ada.must('secrets', 'undelete', 'OTHER')
  await ada.must('env', 'copy', 'development', 'staging')
  await ada.must('secrets', 'delete', 'OTHER', '--yes')
  await ada.must('policy', 'set', 'STRIPE_KEY', '--domains', 'api.stripe.com')
  expect(await ada.reveal('secrets', 'get', 'STRIPE_KEY', 'ADDED')).toBe(
    'ADDED=more\nSTRIPE_KEY=sk_three\n',
  )
  expect(await revisions('staging')).toBe(1)
  expect(await revisions()).toBe(8)
  await ada.must('env', 'delete', 'staging', '--yes')
  expect(await revisions('staging')).toBe(2)
})

test('undelete opens a value before it signs the hash, and rejects a replaced value', async () => {
  const at = ['-e', 'undone']
  await ada.must('secrets', 'set', 'ADMIN_KEY=theirs', 'GUEST_KEY=ours', ...at)
  await ada.must('secrets', 'delete', 'ADMIN_KEY', 'GUEST_KEY', '--yes', ...at)
  const rows = await sql()`select key, workspace_id, project_id, value, value_hash
    from deleted_secrets where environment = 'undone'`
  const [admin, guest] = ['ADMIN_KEY', 'GUEST_KEY'].map((name) =>
    rows.find((row) => row.key === name),
  )
  const outer = OuterLayer.parse(app.config.ENCRYPTION_KEY)
  const placeOf = (key: string) => ({
    projectId: String(admin?.project_id),
    environment: 'undone',
    key,
  })
  const workspaceId = String(admin?.workspace_id)
  const of = { ...placeOf('GUEST_KEY'), sealed: new Uint8Array(guest?.value) }
  const theirs = (await openStoredSecret(outer, workspaceId, of)) ?? new Uint8Array()
  const moved = await sealStoredSecret(outer, workspaceId, placeOf('ADMIN_KEY'), theirs)
  const put = (value: Uint8Array, hash: Uint8Array) =>
    sql()`update deleted_secrets set value = ${Buffer.from(value)}, value_hash = ${Buffer.from(hash)}
      where key = 'ADMIN_KEY' and environment = 'undone'`

  await put(moved, guest?.value_hash)
  const refused = await ada.run(['secrets', 'undelete', 'ADMIN_KEY', '--json', ...at])
  expect([refused.code, JSON.parse(refused.err)]).toMatchObject([
    5,
    { error: { code: 'unproven_policy' } },
  ])
  await put(admin?.value, admin?.value_hash)
  const done = await ada.run(['secrets', 'undelete', 'ADMIN_KEY', ...at])
  expect([done.code, done.err]).toEqual([
    0,
    expect.stringMatching(/^ADMIN_KEY: version 1, deleted 2/),
  ])
  expect(await ada.reveal('secrets', 'get', 'ADMIN_KEY', ...at)).toBe('theirs')
  const back = await ada.run(['secrets', 'rollback', 'ADMIN_KEY', '1', '--yes', ...at])
  expect(back.err).toMatch(/ADMIN_KEY: version 1, stored 2.* by ada@example.com/)
})

test('two concurrent machines both store, and nothing is lost', async () => {
  const other = await loggedIn(app, 'ada@example.com')
  const place = ['-e', 'busy', '-p', 'billing']
  await Promise.all(
    [ada, other].map((machine, at) => machine.must('secrets', 'set', `M${at}=value`, ...place)),
  )
  other.remove()
  const listed = (await ada.json('secrets', 'list', ...place)) as { key: string }[]
  expect(listed.map(({ key }) => key)).toEqual(['M0', 'M1'])
})

describe('a token', () => {
  let token: string

  beforeAll(async () => {
    token = (await ada.must('workload-token', 'issue', 'ci', '--quiet')).trim()
  })

  const withToken = (...command: string[]) =>
    ada.run(['run', '--', ...command], { env: { SERVICE_TOKEN: token }, reveals: true })

  test('a token receives signed values and verifies them', async () => {
    expect(await withToken('printenv', 'ADDED')).toMatchObject({ code: 0 })
    const issued = await ada.must('agent', 'create', 'bot', '--may', 'use,read', '--quiet')
    const env = { SERVICE_TOKEN: issued.trim() }
    expect(await ada.run(['run', '--', 'true'], { env })).toMatchObject({ code: 0 })
  })

  test('no command starts with an older value that was written into the database', async () => {
    const [before] =
      await sql()`select value, value_hash from secrets where key = 'ADDED' and environment = 'development'`
    await ada.must('secrets', 'set', 'ADDED=newer')
    const [after] =
      await sql()`select value, value_hash from secrets where key = 'ADDED' and environment = 'development'`
    await sql()`update secrets set value = ${before?.value}, value_hash = ${before?.value_hash} where key = 'ADDED' and environment = 'development'`
    expect(await withToken('echo', 'started')).toMatchObject({ code: 5, out: '' })
    for (const command of [
      ['secrets', 'get', 'ADDED'],
      ['secrets', 'list'],
      ['secrets', 'pull'],
      ['secrets', 'set', 'NEW=1'],
      ['run', '--', 'echo', 'started'],
    ]) {
      const refused = await ada.run(command)
      expect(refused).toMatchObject({ code: 5, out: '' })
      expect(refused.err).toContain('does not match its signatures: the manifest is refused')
    }
    await sql()`update secrets set value = ${after?.value}, value_hash = ${after?.value_hash} where key = 'ADDED' and environment = 'development'`
    expect(await ada.reveal('secrets', 'get', 'ADDED')).toBe('newer')
  })

  test('verify checks each environment and names one that fails', async () => {
    const verify = async () => {
      const { code, out } = await ada.run(['workspace', 'verify', '--json'])
      return { code, ...JSON.parse(out) }
    }
    const whole = await verify()
    expect(whole).toMatchObject({ code: 0, verdict: 'verified' })
    expect(whole.environments).toContainEqual({
      ...{ project: 'billing', environment: 'busy', revision: 2, secrets: 2, fault: null },
    })
    const ci = whole.tokens.find(({ label }: { label: string }) => label === 'ci')
    expect(ci).toMatchObject({ granted_by: 'ada@example.com', verdict: 'verified', why: null })

    const [hash] = await sql()`select value_hash from secrets where key = 'M0'`
    await sql()`update secrets set value_hash = (select value_hash from secrets where key = 'M1')
      where key = 'M0'`
    const [grant] = await sql()`select signature from token_grants where token_id = ${ci.id}`
    await sql()`update token_grants set signature = ${Buffer.alloc(64)} where token_id = ${ci.id}`
    const altered = await verify()
    await sql()`update secrets set value_hash = ${hash?.value_hash} where key = 'M0'`
    await sql()`update token_grants set signature = ${grant?.signature} where token_id = ${ci.id}`
    expect(altered).toMatchObject({ code: 1, verdict: 'refused' })
    expect(altered.why).toEqual([
      expect.stringMatching(/^billing\/busy: the manifest is refused/),
      expect.stringContaining(
        `token ci (${ci.id}), which claims to be granted by ada@example.com, ${ci.fingerprint}: `,
      ),
    ])
    const said = await ada.must('workspace', 'verify')
    expect(said).toMatch(/1 member; \d+ environments with manifests; 2 tokens verified/)
  })

  test('a token continues after a rekey, and a token without a grant is named and does not', async () => {
    const issued = await ada.must('workload-token', 'issue', 'written over', '--quiet')
    const other = await ada.must('workload-token', 'issue', 'other', '--quiet')
    await sql()`update tokens set public_key = (select public_key from tokens where label = 'other')
      where label = 'written over'`
    const { code, err } = await ada.run(['workspace', 'rekey', '--yes'])
    expect({ code, err }).toMatchObject({ code: 0 })
    expect(err).toMatch(
      /not carried over: written over \(.+\), which claims to be granted by ada@example\.com, ([0-9a-f]{4} ){15}[0-9a-f]{4}: /,
    )
    expect(err).not.toContain('not carried over: other')
    expect(await ada.reveal('secrets', 'get', 'ADDED')).toBe('newer')
    await ada.must('secrets', 'set', 'AFTER=it')
    expect(await withToken('printenv', 'AFTER')).toMatchObject({ code: 0 })
    const using = (text: string) =>
      ada.run(['run', '--', 'echo', 'started'], { env: { SERVICE_TOKEN: text.trim() } })
    expect(await using(other)).toMatchObject({ code: 0, out: 'started\n' })
    expect((await using(issued)).out).toBe('')
  })
})
