// tier: quick
/** Signed workspaces from the command line, against servers that are honest and others that are not. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { signUp } from '../../src/client/account/log_in.ts'
import { uuidv8 } from '../../src/core/crypto/encoding.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { cheapArgon2id } from '../support/cheap_argon2id.ts'
import { PASSWORD, type Terminal } from './person.ts'
import { loggedIn, plainWorkspace, signedAccount, signedWorkspace } from './signed_person.ts'

let app: TestApp
let ada: Terminal
let acme: string

beforeAll(async () => {
  app = await startTestApp()
  ada = await signedAccount(app, 'ada@example.com')
  acme = await signedWorkspace(app, 'ada@example.com', 'acme')
})
afterAll(async () => {
  ada.remove()
  await app.stop()
})

const inAcme = (...args: string[]) => [...args, '-w', 'acme']

test('a workspace is pinned once per machine, and only the owner can read the pins', async () => {
  const first = await ada.run(inAcme('allowlist', 'list'))
  expect(first).toMatchObject({
    code: 0,
    err: expect.stringContaining('acme is new to this machine'),
  })
  expect((await ada.run(inAcme('allowlist', 'list'))).err).toBe('')
  const path = join(ada.home, '.config', 'cloakroom', 'chains.json')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(Object.values(JSON.parse(readFileSync(path, 'utf8')))).toMatchObject([
    { [acme]: { seq: 1, epoch: 1 } },
  ])
})

test('hosts are allowed and disallowed by links, in their stored form', async () => {
  await ada.must(...inAcme('allowlist', 'add', 'API.example.com', 'b.example:443'))
  expect(await ada.must(...inAcme('allowlist', 'add', 'b.example'))).toContain('already')
  await ada.must(...inAcme('allowlist', 'remove', 'b.example'))
  const rows = await app.connection.sql`
    select statement from workspace_links where workspace_id = ${acme} order by seq`
  expect(rows.slice(1).map(({ statement }) => JSON.parse(statement).body)).toEqual([
    { add: ['api.example.com', 'b.example'], remove: [] },
    { add: [], remove: ['b.example'] },
  ])
})

test('two machines concurrently both get their host allowed', async () => {
  const other = await loggedIn(app, 'ada@example.com')
  await Promise.all(
    [ada, other].map((machine, at) =>
      machine.must(...inAcme('allowlist', 'add', `m${at}.example`)),
    ),
  )
  other.remove()
  const listed = (await ada.json(...inAcme('allowlist', 'list'))) as { domain: string }[]
  expect(listed.map(({ domain }) => domain).sort()).toEqual([
    'api.example.com',
    'm0.example',
    'm1.example',
  ])
})

test('verify prints the signed state, and log describes each link', async () => {
  const verified = await ada.json(...inAcme('workspace', 'verify'))
  const fingerprint = (await ada.must(...inAcme('workspace', 'fingerprint', '--quiet'))).trim()
  expect(fingerprint).toMatch(/^([0-9a-f]{4} ){15}[0-9a-f]{4}$/)
  const own = ((await ada.json('whoami')) as { fingerprint: string }).fingerprint
  expect(verified).toEqual({
    workspace: 'acme',
    verdict: 'verified',
    links: 5,
    epoch: 1,
    rekey_required: '',
    fingerprint,
    allowlist: ['api.example.com', 'm0.example', 'm1.example'],
    members: [{ email: 'ada@example.com', role: 'owner', fingerprint: own }],
    environments: [],
    tokens: [],
  })
  const log = await ada.must(...inAcme('workspace', 'log'))
  const lines = log.trim().split('\n').slice(1, 4)
  expect(lines.map((line) => line.split(/ {2,}/).slice(2))).toEqual([
    ['ada@example.com', 'created the workspace'],
    ['ada@example.com', 'allowed api.example.com, b.example'],
    ['ada@example.com', 'disallowed b.example'],
  ])
})

describe('the client refuses a server that returns other links', () => {
  const refusal = (why: string) => ({
    error: {
      code: 'unverified_workspace',
      message: expect.stringContaining(why),
      hint: expect.stringContaining('cloakroom workspace verify'),
    },
  })

  /** The output of a command while the links are changed. Restores the links. */
  async function during(change: string, args: string[]) {
    const { sql } = app.connection
    await sql`create table kept_links as table workspace_links`
    await sql.unsafe(change)
    try {
      const { code, out, err } = await ada.run([...args, '--json'])
      return { code, said: JSON.parse(out || err) }
    } finally {
      await sql`delete from workspace_links`
      await sql`insert into workspace_links select * from kept_links`
      await sql`drop table kept_links`
    }
  }

  test.each([
    ['no links at all', 'delete from workspace_links', 'it is empty'],
    [
      'a chain that was cut',
      'delete from workspace_links where seq > 2',
      'links seen before are missing or replaced',
    ],
    [
      'the chain of another workspace',
      `delete from workspace_links where workspace_id = (select id from workspaces where name = 'acme');
       update workspace_links set workspace_id = (select id from workspaces where name = 'acme')`,
      'it belongs to another workspace',
    ],
  ])('%s is rejected, and nothing is signed', async (_, change, why) => {
    const seen = await during(change, inAcme('allowlist', 'add', 'evil.example'))
    expect(seen).toEqual({ code: 5, said: refusal(why) })
    expect(await ada.must(...inAcme('allowlist', 'list'))).not.toContain('evil.example')
    const verdict = await during(change, inAcme('workspace', 'verify'))
    expect(verdict).toEqual({
      code: 1,
      said: { workspace: 'acme', verdict: 'refused', why: expect.stringContaining(why) },
    })
  })

  test("the client compares the server's lists with the signed state", async () => {
    const { sql } = app.connection
    await sql`update memberships set role = 'member' where workspace_id = ${acme}`
    await sql`update allowlist_entries set domain = 'evil.example' where domain = 'm1.example'`
    const { code, out } = await ada.run(inAcme('workspace', 'verify', '--json'))
    await sql`update memberships set role = 'owner' where workspace_id = ${acme}`
    await sql`update allowlist_entries set domain = 'm1.example' where domain = 'evil.example'`
    const about = (what: string) => `the server's list does not match the signatures of the ${what}`
    expect([code, JSON.parse(out)]).toMatchObject([
      1,
      {
        verdict: 'refused',
        why: [
          about('member ada@example.com'),
          about('host evil.example'),
          about('host m1.example'),
        ],
      },
    ])
  })

  test('the links, not the rows, name the person who allowed a host, and differing rows cause a warning', async () => {
    const { sql } = app.connection
    const list = inAcme('allowlist', 'list', '--json')
    const before = await ada.run(list)
    await sql`update allowlist_entries set added_by = null, added_at = '2001-01-01'`
    expect(await ada.run(list)).toEqual(before)
    expect(JSON.parse(before.out)).toContainEqual(
      expect.objectContaining({ domain: 'm1.example', added_by_email: 'ada@example.com' }),
    )
    await sql`update allowlist_entries set domain = 'evil.example' where domain = 'm1.example'`
    const { out, err } = await ada.run(list)
    await sql`update allowlist_entries set domain = 'm1.example' where domain = 'evil.example'`
    expect(out).toBe(before.out)
    expect(err).toContain('nobody signed (calls to them are blocked): evil.example')
    expect(err).toContain('members signed (agents can reach them): m1.example')
  })

  test('rows alone allow no host and give nobody a role in a list', async () => {
    const { sql } = app.connection
    const hosts = async () =>
      ((await ada.json(...inAcme('allowlist', 'list'))) as { domain: string }[]).map(
        ({ domain }) => domain,
      )
    const before = await hosts()
    await sql`update memberships set role = 'member' where workspace_id = ${acme}`
    await sql`update allowlist_entries set domain = 'evil.example' where domain = 'm1.example'`
    const after = await hosts()
    const members = await ada.json(...inAcme('workspace', 'members'))
    await sql`update memberships set role = 'owner' where workspace_id = ${acme}`
    await sql`update allowlist_entries set domain = 'm1.example' where domain = 'evil.example'`
    expect([after, members]).toMatchObject([before, [{ email: 'ada@example.com', role: 'owner' }]])
    for (const list of [
      ['allowlist', 'list'],
      ['workspace', 'members'],
    ]) {
      const seen = await during('delete from workspace_links', inAcme(...list))
      expect(seen).toEqual({ code: 5, said: refusal('it is empty') })
    }
  })

  test('a plain workspace in place of a signed one is not used before it is accepted', async () => {
    const { sql } = app.connection
    await sql`update workspaces set name = 'moved' where id = ${acme}`
    await plainWorkspace(app, 'ada@example.com', 'acme')
    const args = inAcme('project', 'create', 'payments', '--json')
    const [row] = await sql`select id from workspaces where name = 'acme'`
    const refused = async () => {
      const { code, err } = await ada.run(args)
      const { error } = JSON.parse(err.trim().split('\n').at(-1) ?? '')
      return [code, error.code, error.message]
    }
    const what = (before: string, now: string) =>
      `the workspace acme was ${before}, but the server now shows ${now}; nothing was done`
    const isPlain = [5, 'changed_name', what(`${acme} (signed)`, row?.id)]
    expect(await refused()).toEqual(isPlain)
    expect(await refused()).toEqual(isPlain)
    await ada.must('workspace', 'accept-name', 'acme', '--yes')
    await ada.must(...args)
    await sql`delete from workspaces where name = 'acme'`
    await sql`update workspaces set name = 'acme' where id = ${acme}`
    expect(await refused()).toEqual([5, 'changed_name', what(row?.id, `${acme} (signed)`)])
    await ada.must('workspace', 'accept-name', 'acme', '--yes')
    await ada.must(...args)
  })
})

test('a plain workspace that was used earlier is not used under the name of a signed one', async () => {
  const { sql } = app.connection
  await plainWorkspace(app, 'ada@example.com', 'notes')
  await ada.must('allowlist', 'list', '-w', 'notes')
  await ada.must('workspace', 'create', 'live')
  await sql`update workspaces set name = 'live-old' where name = 'live'`
  await sql`update workspaces set name = 'live' where name = 'notes'`
  expect(await ada.run(['project', 'create', 'payments', '-w', 'live'])).toMatchObject({
    code: 5,
    err: expect.stringMatching(/the workspace live was \S+ \(signed\), but the server now shows/),
  })
  await sql`update workspaces set name = 'notes' where name = 'live'`
  await ada.must('project', 'create', 'payments', '-w', 'notes')
  await ada.must('project', 'create', 'payments', '-w', 'live-old')
})

test('an account without a signing key gets one before it creates a workspace', async () => {
  await signUp(app.controlPlane, 'old@example.com', PASSWORD, false, undefined, cheapArgon2id)
  const old = await loggedIn(app, 'old@example.com')
  const path = join(old.home, '.config', 'cloakroom', 'session.json')
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), seed: null }))
  const refused = await old.run(['workspace', 'create', 'team'])
  expect([refused.code, refused.err]).toEqual([
    5,
    expect.stringContaining('cloakroom account rotate-keys'),
  ])
  const rotated = await old.run(['account', 'rotate-keys', '--yes', '--password-stdin'], {
    stdin: PASSWORD,
    reveals: true,
  })
  expect(rotated.code).toBe(0)
  await old.must('workspace', 'create', 'team')
  expect(await old.json('workspace', 'verify', '-w', 'team')).toMatchObject({ verdict: 'verified' })
  old.remove()
})

test('a workspace named like the ID of another is not mistaken for it', async () => {
  const gone = uuidv8()
  await ada.must('workspace', 'create', gone)
  expect(await ada.run(['allowlist', 'list', '-w', gone])).toMatchObject({
    code: 4,
    err: expect.stringContaining(`there is no workspace ${gone}`),
  })
})
