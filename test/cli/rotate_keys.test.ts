// tier: all
/** `account rotate-keys`: data sealed to the old keys opens with the new ones, and the old keys are useless. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deriveFromPassword } from '../../src/client/account/account_keys.ts'
import { createWorkspaceKeys } from '../../src/client/actions/workspaces.ts'
import { openApi } from '../../src/client/http/api.ts'
import { toBase64 } from '../../src/core/crypto/encoding.ts'
import { register } from '../../src/features/accounts/contract.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { cheapArgon2id } from '../support/cheap_argon2id.ts'
import { generateKeyPair } from '../support/key_pair.ts'
import { openTerminal, PASSWORD, type Terminal } from './person.ts'
import { openSwitch } from './running/switched_server.ts'
import { loggedIn, signedAccount, signedWorkspace } from './signed_person.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp({ RATE_API: '100000/1' })
})
afterAll(() => app.stop())

const rotate = (person: Terminal, password = PASSWORD, keep: string[] = []) =>
  person.run(
    ['account', 'rotate-keys', '--yes', '--password-stdin', '--json'].concat(
      keep.flatMap((id) => ['--keep-token', id]),
    ),
    { stdin: `${password}\n` },
  )
const tokenIds = async (...labels: string[]) => {
  const { sql } = app.connection
  const rows = await sql`select id from tokens where label in ${sql(labels)}`
  return rows.map(({ id }) => String(id))
}
const fingerprintOf = async (person: Terminal) =>
  ((await person.json('whoami')) as { fingerprint: string }).fingerprint

test('new keys sign and open everything, and the other machine must log in again', async () => {
  const ada = await signedAccount(app, 'ada@example.com')
  await signedWorkspace(app, 'ada@example.com', 'team')
  const other = await loggedIn(app, 'ada@example.com')
  await ada.must('allowlist', 'add', 'old.example.com', '-w', 'team')
  await ada.must('init', 'api')
  await ada.must('secrets', 'set', 'MINE=of-this-machine', '--mine')
  const before = await fingerprintOf(ada)

  expect(await rotate(ada, 'not the password')).toMatchObject({ code: 3 })
  expect(await fingerprintOf(ada)).toBe(before)
  const done = await rotate(ada)
  expect(done).toMatchObject({ code: 0 })
  expect(JSON.parse(done.out)).toMatchObject({
    rotated: 'ada@example.com',
    rekey_required: ['Personal', 'team'],
    recovery_key: expect.any(String),
  })

  expect(await fingerprintOf(ada)).not.toBe(before)
  await ada.must('allowlist', 'add', 'new.example.com', '-w', 'team')
  await ada.must('workspace', 'verify', '-w', 'team')
  expect(await ada.reveal('secrets', 'get', 'MINE')).toContain('of-this-machine')
  expect(await other.run(['whoami'])).toMatchObject({ code: 3 })
  const again = await loggedIn(app, 'ada@example.com')
  expect(await fingerprintOf(again)).toBe(await fingerprintOf(ada))
  for (const person of [ada, other, again]) person.remove()
})

test('a login that returns the account rows from before a rotation is rejected by a machine that has seen the newer keys', async () => {
  const { sql } = app.connection
  const gina = await signedAccount(app, 'gina@example.com')
  const login = () =>
    gina.run(['login', 'gina@example.com', '--password-stdin', '--insecure-storage'], {
      stdin: `${PASSWORD}\n`,
    })
  await sql`create table users_before as select * from users where email = 'gina@example.com'`
  expect(await rotate(gina)).toMatchObject({ code: 0 })
  await gina.must('logout')
  const columns = await sql`select column_name as name from information_schema.columns
    where table_name = 'users' and column_name not in ('id', 'email')`
  const names = columns.map(({ name }) => `"${name}"`).join(', ')
  await sql`create table users_after as select * from users where email = 'gina@example.com'`
  const put = (table: string) =>
    sql.unsafe(`update users u set (${names}) = (select ${names} from ${table}) from ${table} t
      where u.id = t.id`)
  await put('users_before')
  const refused = await login()
  expect([refused.code, refused.err]).toEqual([5, expect.stringContaining('replaced keys')])
  await put('users_after')
  expect(await login()).toMatchObject({ code: 0 })
  await sql`drop table users_before, users_after`
  gina.remove()
})

describe('a lost answer', () => {
  const KEYS = '/api/users/me/keys/'
  const RECOVERY = /\b[0-9a-f]{8}(-[0-9a-f]{8}){7}\b/
  const recovered = async (email: string, key: string | undefined) => {
    const person = await openTerminal(app)
    const { code } = await person.run(
      ['recover', email, '--password-stdin', '--insecure-storage'],
      { stdin: `${PASSWORD}\n`, env: { SERVICE_RECOVERY_KEY: key ?? '' } },
    )
    person.remove()
    return code
  }
  let between: ReturnType<typeof openSwitch>
  beforeAll(() => {
    between = openSwitch(app.controlPlane)
  })
  afterAll(() => between.close())
  const behind = () => ({ controlPlane: between.origin, resolver: app.resolver })

  test('after a lost answer the client asks the server, and uses the keys that the server accepted', async () => {
    const eve = await signedAccount(behind(), 'eve@example.com')
    between.lose(KEYS)
    const { code, out } = await rotate(eve)
    const output = JSON.parse(out)
    expect([code, output.rotated]).toEqual([0, 'eve@example.com'])
    await eve.must('allowlist', 'add', 'new.example.com')
    expect(await recovered('eve@example.com', output.recovery_key)).toBe(0)
    eve.remove()
  })

  test('a rotation whose server becomes unavailable prints the recovery key, and the next command completes it', async () => {
    const dan = await signedAccount(behind(), 'dan@example.com')
    await dan.must('init', 'api')
    await dan.must('secrets', 'set', 'MINE=of-this-machine', '--mine')
    between.lose(KEYS, 503)
    const { code, err } = await rotate(dan)
    const last = JSON.parse(err.trim().split('\n').at(-1) ?? '')
    expect([code, last]).toMatchObject([6, { error: { code: 'unknown_outcome' } }])
    await between.to('passes')
    const next = await dan.run(['allowlist', 'add', 'new.example.com'])
    const [key] = RECOVERY.exec(err) ?? []
    expect([next.code, RECOVERY.exec(next.err)?.[0]]).toEqual([0, key])
    expect((await dan.run(['whoami'])).err).not.toMatch(RECOVERY)
    expect(await dan.reveal('secrets', 'get', 'MINE')).toContain('of-this-machine')
    expect(await recovered('dan@example.com', key)).toBe(0)
    dan.remove()
  })

  test('a login completes a rotation whose answer was lost, and prints the recovery key', async () => {
    const gus = await signedAccount(behind(), 'gus@example.com')
    await gus.must('init', 'api')
    await gus.must('secrets', 'set', 'MINE=of-this-machine', '--mine')
    between.lose(KEYS, 503)
    const [key] = RECOVERY.exec((await rotate(gus)).err) ?? []
    await between.to('passes')
    const login = ['login', 'gus@example.com', '--password-stdin', '--insecure-storage']
    const { code, err } = await gus.run(login, { stdin: `${PASSWORD}\n` })
    expect([code, RECOVERY.exec(err)?.[0]]).toEqual([0, key])
    expect(await gus.reveal('secrets', 'get', 'MINE')).toContain('of-this-machine')
    gus.remove()
  })

  test('a rejected rotation leaves no pending keys and prints no recovery key', async () => {
    const hal = await signedAccount(app, 'hal@example.com')
    expect((await rotate(hal, 'not the password')).err).not.toMatch(RECOVERY)
    const session = readFileSync(join(hal.home, '.config/cloakroom/session.json'), 'utf8')
    expect(JSON.parse(session).next).toBeNull()
    hal.remove()
  })
})

test('personal values on another machine stay when the keys were replaced on this one', async () => {
  const ida = await signedAccount(app, 'ida@example.com')
  const other = await loggedIn(app, 'ida@example.com')
  await other.must('init', 'api')
  await other.must('secrets', 'set', 'MINE=of-the-other', '--mine')
  expect(await rotate(ida)).toMatchObject({ code: 0 })
  const login = ['login', 'ida@example.com', '--password-stdin', '--insecure-storage']
  expect(await other.run(login, { stdin: `${PASSWORD}\n` })).toMatchObject({ code: 0 })
  expect(await other.reveal('secrets', 'get', 'MINE')).toContain('of-the-other')
  for (const person of [ida, other]) person.remove()
})

describe('tokens that the person granted', () => {
  test('tokens end with a rotation, because a thief of the old key could have granted them', async () => {
    const lou = await signedAccount(app, 'lou@example.com')
    const thief = await loggedIn(app, 'lou@example.com')
    await lou.must('init', 'api')
    await lou.must('secrets', 'set', 'KEY=stored')
    const issue = ['agent', 'create', 'bot', '-p', 'api', '-e', 'development']
    const { token } = (await thief.json(...issue, '--label', 'of-the-thief')) as { token: string }
    const [id = ''] = await tokenIds('of-the-thief')
    const names = () => lou.run(['secrets', 'list', '--token', token])
    expect((await names()).code).toBe(0)
    const other = await rotate(lou, PASSWORD, [crypto.randomUUID()])
    expect([other.code, (await names()).code]).toEqual([4, 0])

    const { code, out, err } = await rotate(lou)
    expect([code, JSON.parse(out)]).toMatchObject([0, { granted: [], left: [] }])
    expect(err).toContain(`agent token of-the-thief ${id} (development)`)
    expect((await names()).code).not.toBe(0)
    for (const person of [lou, thief]) person.remove()
  })

  test('named tokens are signed again in the same call, and grants that do not verify are listed', async () => {
    const jan = await signedAccount(app, 'jan@example.com')
    await jan.must('init', 'api')
    await jan.must('secrets', 'set', 'KEY=kept')
    const agent = (await jan.json('agent', 'create', 'bot', '--label', 'bots')) as {
      token: string
    }
    const workload = (await jan.json('workload-token', 'issue', 'ci')) as { token: string }
    const forged = (await jan.json('agent', 'create', 'forged')) as { id: string }
    const { sql } = app.connection
    await sql`update token_grants set signature = ${Buffer.alloc(64)} where token_id =
      (select id from tokens where agent_id = ${forged.id})`
    const works = async (token: string) =>
      (await jan.run(['secrets', 'list', '--token', token])).code === 0

    const { code, out } = await rotate(jan, PASSWORD, await tokenIds('bots', 'ci'))
    const { granted, left } = JSON.parse(out)
    expect([code, granted.length]).toEqual([0, 2])
    expect(left).toEqual([expect.objectContaining({ fingerprint: expect.any(String) })])
    expect([await works(agent.token), await works(workload.token)]).toEqual([true, true])
    expect(await jan.json('workspace', 'verify')).toMatchObject({ verdict: 'verified' })
    await jan.must('workspace', 'rekey', '--yes')
    expect([await works(agent.token), await works(workload.token)]).toEqual([true, true])
    jan.remove()
  })

  test('a rotation succeeds even if the server rejects one of the named tokens', async () => {
    const kim = await signedAccount(app, 'kim@example.com')
    await kim.must('init', 'api')
    const { id } = (await kim.json('agent', 'create', 'bot', '--label', 'kims')) as { id: string }
    const kept = await tokenIds('kims')
    await app.connection.sql`update tokens set label = 'altered' where agent_id = ${id}`
    const { code, out } = await rotate(kim, PASSWORD, kept)
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      { granted: [], left: [{ label: 'altered' }] },
    ])
    kim.remove()
  })
})

test('an account without a signing key gets its first', async () => {
  const keys = { ...generateKeyPair(), seed: null }
  const email = 'bob@example.com'
  const { order } = await createWorkspaceKeys(keys.publicKey, null)
  await openApi(app.controlPlane).call(register, {
    body: {
      email,
      public_key: toBase64(keys.publicKey),
      ...(await deriveFromPassword(PASSWORD, keys, cheapArgon2id)),
      workspace: order,
    },
  })
  const bob = await loggedIn(app, email)
  await bob.must('init', 'api')
  await bob.must('secrets', 'set', 'KEY=kept')
  expect(await rotate(bob)).toMatchObject({ code: 0 })
  const [user] = await app.connection.sql`select signing_key from users where email = ${email}`
  expect(user?.signing_key).toBeTruthy()
  expect(await bob.reveal('secrets', 'get', 'KEY')).toContain('kept')
  bob.remove()
})
