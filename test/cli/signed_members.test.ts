// tier: all
/** Members of a signed workspace: its links decide who receives the key and which rights each member has. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sealMemberEnvelope } from '../../src/core/crypto/envelope.ts'
import { OuterLayer } from '../../src/core/crypto/outer_layer.ts'
import { sealEnvelope } from '../../src/features/workspaces/memberships.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { answering } from './answering.ts'
import { PASSWORD, type Terminal } from './person.ts'
import { signedAccount, signedWorkspace } from './signed_person.ts'

let app: TestApp
let ada: Terminal
let bob: Terminal
let eve: Terminal

beforeAll(async () => {
  app = await startTestApp()
  ada = await signedAccount(app, 'ada@example.com')
  bob = await signedAccount(app, 'bob@example.com')
  eve = await signedAccount(app, 'eve@example.com')
  await signedWorkspace(app, 'ada@example.com', 'acme')
  await ada.must(...inAcme('workspace', 'verify'))
})
afterAll(async () => {
  for (const person of [ada, bob, eve]) person.remove()
  await app.stop()
})

const inAcme = (...args: string[]) => [...args, '-w', 'acme']
const fingerprintOf = async (person: Terminal) =>
  ((await person.json('whoami')) as { fingerprint: string }).fingerprint
const inviting = (email: string, ...more: string[]) =>
  inAcme('workspace', 'invite', email, '--json', ...more)

/** The role of each member in the links. */
async function signed(): Promise<Record<string, string>> {
  const { members } = (await ada.json(...inAcme('workspace', 'verify'))) as {
    members: { email: string; role: string }[]
  }
  return Object.fromEntries(members.map(({ email, role }) => [email, role]))
}

/** Replaces a member's key of acme, as anyone with the server's keys can. Returns the function that restores it. */
async function replaceKey(email: string): Promise<() => Promise<unknown>> {
  const { sql } = app.connection
  const [row] = await sql`select m.workspace_id, m.user_id, u.public_key, m.encrypted_workspace_key
    from memberships m join users u on u.id = m.user_id join workspaces w on w.id = m.workspace_id
    where w.name = 'acme' and u.email = ${email}`
  const place = { workspaceId: row?.workspace_id, userId: row?.user_id }
  const recipientPublicKey = new Uint8Array(row?.public_key)
  const theirs = new Uint8Array(32).fill(9)
  const envelope = await sealMemberEnvelope({ ...place, recipientPublicKey, epoch: 1 }, theirs)
  const blob = await sealEnvelope(OuterLayer.parse(app.config.ENCRYPTION_KEY), place, envelope)
  const put = (bytes: Uint8Array) =>
    sql`update memberships set encrypted_workspace_key = ${Buffer.from(bytes)}
      where workspace_id = ${place.workspaceId} and user_id = ${place.userId}`
  await put(blob)
  return () => put(row?.encrypted_workspace_key)
}

/** Expects that accepting fails, because nobody with the right to invite signed the invitation. */
async function expectNoInvitation(why: string) {
  const { code, err } = await eve.run(['workspace', 'accept', 'acme'])
  expect([code, err]).toEqual([5, expect.stringContaining(why)])
  const { sql } = app.connection
  const active = await sql`select 1 from memberships m join users u on u.id = m.user_id
    join workspaces w on w.id = m.workspace_id
    where w.name = 'acme' and u.email = 'eve@example.com' and m.status = 'active'`
  expect(active).toHaveLength(0)
}

test('a person whose fingerprint was not compared is not invited', async () => {
  const asked = await ada.run(inviting('bob@example.com'))
  expect(asked.code).toBe(2)
  expect(asked.err).toContain(`bob@example.com  ${await fingerprintOf(bob)}\n`)
  expect(asked.err).toContain('--fingerprint')
  const wrong = await ada.run(
    inviting('bob@example.com', '--fingerprint', await fingerprintOf(eve)),
  )
  expect([wrong.code, JSON.parse(wrong.err)]).toMatchObject([
    5,
    { error: { code: 'unproven_key' } },
  ])
  expect(await signed()).toEqual({ 'ada@example.com': 'owner' })
})

test('swapped fingerprints of two people are rejected', async () => {
  const [bobs, eves] = await Promise.all([fingerprintOf(bob), fingerprintOf(eve)])
  const swapped = [`bob@example.com=${eves}`, `eve@example.com=${bobs}`]
  const given = swapped.flatMap((each) => ['--fingerprint', each])
  const { code, err } = await ada.run(inviting('bob@example.com', 'eve@example.com', ...given))
  expect([code, JSON.parse(err)]).toMatchObject([5, { error: { code: 'unproven_key' } }])
  expect(await signed()).toEqual({ 'ada@example.com': 'owner' })
})

test('an account without a signing key gets its own status when it is invited', async () => {
  const { sql } = app.connection
  const [row] = await sql`select signing_key from users where email = 'eve@example.com'`
  await sql`update users set signing_key = null where email = 'eve@example.com'`
  expect(JSON.parse(await ada.must(...inviting('eve@example.com')))).toEqual([
    { email: 'eve@example.com', status: 'no_signing_key' },
  ])
  await sql`update users set signing_key = ${row?.signing_key} where email = 'eve@example.com'`
})

test('an invitation that only the database has is not accepted', async () => {
  const { sql } = app.connection
  const id = Bun.randomUUIDv7()
  await sql`insert into memberships (id, workspace_id, user_id, role, status, encrypted_workspace_key)
    select ${id}, m.workspace_id, u.id, 'admin', 'invited', m.encrypted_workspace_key
    from memberships m join workspaces w on w.id = m.workspace_id, users u
    where w.name = 'acme' and u.email = 'eve@example.com'`
  await expectNoInvitation('its chain does not list you as a member')
  await sql`delete from memberships where id = ${id}`
})

test('several people are invited by one link, with their fingerprints in any form', async () => {
  const bobs = (await fingerprintOf(bob)).toUpperCase().replaceAll(' ', '-')
  const eves = `eve@example.com=${await fingerprintOf(eve)}`
  const split = await ada.run(inviting('bob@example.com', '--fingerprint', ...eves.split(' ')))
  expect([split.code, split.err]).toEqual([2, expect.stringContaining('put the whole in quotes')])
  const asked = ['--fingerprint', `Bob@Example.com=${bobs}`, '--fingerprint', eves]
  const { code, out } = await ada.run(inviting('bob@example.com', 'eve@example.com', ...asked))
  expect([code, JSON.parse(out)]).toEqual([
    0,
    [
      { email: 'bob@example.com', status: 'invited' },
      { email: 'eve@example.com', status: 'invited' },
    ],
  ])
  expect(await signed()).toMatchObject({ 'bob@example.com': 'member', 'eve@example.com': 'member' })
})

test('an invitation with a key other than that of the members is not accepted', async () => {
  const putBack = await replaceKey('eve@example.com')
  await expectNoInvitation('its key is not the key of epoch 1')
  await putBack()
})

test('the person named in the links can accept the invitation, and sees the fingerprint to compare', async () => {
  const { code, err } = await bob.run(['workspace', 'accept', 'acme'])
  const fingerprint = (await ada.must(...inAcme('workspace', 'fingerprint', '--quiet'))).trim()
  expect([code, err]).toEqual([0, expect.stringContaining(fingerprint)])
  expect(await bob.json(...inAcme('workspace', 'verify'))).toMatchObject({ verdict: 'verified' })
})

test('a member keeps a role until a link changes it, and the log names who changed it', async () => {
  await ada.must(...inAcme('workspace', 'role', 'bob@example.com', 'admin'))
  await bob.must(...inAcme('allowlist', 'add', 'api.example.com'))
  expect(await ada.json(...inAcme('allowlist', 'list'))).toMatchObject([
    { domain: 'api.example.com' },
  ])
  const log = (await ada.json(...inAcme('workspace', 'log'))) as { by: string; what: string }[]
  expect(log.map(({ by, what }) => `${by} ${what}`)).toEqual([
    'ada@example.com created the workspace',
    'ada@example.com invited bob@example.com as a member; invited eve@example.com as a member',
    'ada@example.com made bob@example.com an admin',
    'bob@example.com allowed api.example.com',
  ])
})

describe('tokens of a former admin', () => {
  const here = (...args: string[]) => inAcme(...args, '-p', 'payments')
  type Issued = { id: string; token: string }
  const made = async (name: string) => {
    const { id: agent, token } = (await bob.json(
      ...here('agent', 'create', name, '--label', name),
    )) as Issued
    const [row] = await app.connection.sql`select id from tokens where agent_id = ${agent}`
    return { id: String(row?.id), token }
  }
  /** Returns whether the resolver accepts the token. */
  const works = async ({ token }: Issued) =>
    (await ada.run(['secrets', 'list', '--token', token, '--json'])).code === 0

  beforeAll(async () => {
    await ada.must(...inAcme('project', 'create', 'payments'))
    await ada.must(...here('secrets', 'set', 'STRIPE_KEY=sk_one'))
  })

  test('tokens of a former admin end, except those that --keep-token names', async () => {
    const [kept, ended] = [await made('kept'), await made('ended')]
    expect([await works(kept), await works(ended)]).toEqual([true, true])
    const demote = inAcme('workspace', 'role', 'bob@example.com', 'member')
    const wrong = await ada.run([...demote, '--keep-token', crypto.randomUUID(), '--json'])
    expect(wrong.code).toBe(4)
    const { code, err } = await ada.run([...demote, '--keep-token', kept.id])
    expect([code, err]).toEqual([0, expect.stringContaining('bob@example.com signed 2 tokens')])
    expect([await works(kept), await works(ended)]).toEqual([true, false])
    expect(await signed()).toMatchObject({ 'bob@example.com': 'member' })
    await ada.must(...inAcme('workspace', 'role', 'bob@example.com', 'admin'))
    expect([await works(kept), await works(ended)]).toEqual([true, false])
  })

  test('a terminal asks about each token, and only a yes keeps it', async () => {
    const [yes, no] = [await made('yes'), await made('no')]
    const { code } = await answering(inAcme('workspace', 'role', 'bob@example.com', 'member'), {
      cwd: ada.cwd,
      env: { HOME: ada.home, SERVICE_SERVER_URL: app.controlPlane },
      typed: [
        { when: 'Keep the agent token yes', type: 'y\r' },
        { when: 'Keep the agent token no', type: 'n\r' },
      ],
    })
    expect([code, await works(yes), await works(no)]).toEqual([0, true, false])
    await ada.must(...inAcme('workspace', 'role', 'bob@example.com', 'admin'))
  })

  test('a rejected change signs no token again', async () => {
    const { id: agent } = (await ada.json(...here('agent', 'create', 'adas'))) as Issued
    const signer = async () => {
      const [row] = await app.connection.sql`select g.statement from token_grants g
        join tokens t on t.id = g.token_id where t.agent_id = ${agent}`
      return row?.statement
    }
    const [row] = await app.connection.sql`select id from tokens where agent_id = ${agent}`
    const before = await signer()
    const remove = inAcme('workspace', 'remove', 'ada@example.com', '--yes')
    const refused = await bob.run([...remove, '--keep-token', String(row?.id)])
    expect([refused.code === 0, await signer()]).toEqual([false, before])
    await ada.must(...here('agent', 'delete', 'adas', '--yes'))
  })

  test('removing a member ends or keeps tokens in the same way', async () => {
    const { home, cwd } = ada
    const remove = inAcme('workspace', 'remove', 'bob@example.com')
    const back = ['--role', 'admin', '--fingerprint', await fingerprintOf(bob)]
    const bringBack = async () => {
      await ada.must(...inAcme('workspace', 'invite', 'bob@example.com', ...back))
      await bob.must('workspace', 'accept', 'acme')
    }
    const [named, other] = [await made('named'), await made('other')]
    const { code, err } = await ada.run([...remove, '--yes', '--keep-token', named.id])
    expect([code, err]).toEqual([0, expect.stringContaining('bob@example.com signed 2 tokens')])
    expect([await works(named), await works(other)]).toEqual([true, false])
    expect(await signed()).not.toHaveProperty('bob@example.com')
    await bringBack()
    const [stays, goes] = [await made('stays'), await made('goes')]
    const removed = await answering(remove, {
      cwd,
      env: { HOME: home, SERVICE_SERVER_URL: app.controlPlane },
      typed: [
        { when: 'Remove bob@example.com from acme?', type: 'y\r' },
        { when: 'Keep the agent token stays', type: 'y\r' },
        { when: 'Keep the agent token goes', type: 'n\r' },
      ],
    })
    expect([removed.code, await works(stays), await works(goes)]).toEqual([0, true, false])
    await bringBack()
  })

  test('revoking a token is a link, so a database change cannot restore it', async () => {
    const token = await made('gone')
    await ada.must(...here('token', 'revoke', 'gone', 'gone'))
    await app.connection.sql`update tokens set revoked_at = null where id = ${token.id}`
    expect(await works(token)).toBe(false)
    const verified = await ada.run(inAcme('workspace', 'verify'))
    expect([verified.code, verified.out]).toEqual([1, expect.stringContaining(token.id)])
    await app.connection.sql`update tokens set revoked_at = now() where id = ${token.id}`
    await ada.must(...here('agent', 'delete', 'kept', '--yes'))
    const log = (await ada.json(...inAcme('workspace', 'log'))) as { what: string }[]
    expect(log.slice(-2).map(({ what }) => what)).toEqual([
      `revoked 1 token: ${token.id}`,
      expect.stringMatching(/^revoked 1 token: /),
    ])
  })
})

test('a token is selected by the label in its grant, not by the label in its row', async () => {
  const { sql } = app.connection
  const issue = async (...args: string[]) => ((await ada.json(...args)) as { id: string }).id
  const bot = inAcme('-p', 'shop')
  await ada.run(inAcme('project', 'create', 'shop'))
  await ada.must(...bot, 'secrets', 'set', 'KEY=value')
  await ada.must(...bot, 'agent', 'create', 'swapped', '--label', 'one')
  await issue(...bot, 'token', 'issue', 'swapped', '--label', 'two')
  await issue(...bot, 'workload-token', 'issue', 'one-ci')
  const last = await issue(...bot, 'workload-token', 'issue', 'two-ci')
  const swap = () => sql`update tokens set label = replace(case when label like 'one%'
    then replace(label, 'one', 'x-two') else replace(label, 'two', 'x-one') end, 'x-', '')
    where label in ('one', 'two', 'one-ci', 'two-ci')`
  await swap()
  for (const revoke of [
    ['token', 'revoke', 'swapped', 'one'],
    ['workload-token', 'revoke', 'one-ci'],
  ])
    expect(await ada.run([...bot, ...revoke, '--json'])).toMatchObject({
      code: 5,
      err: expect.stringContaining('unverified_workspace'),
    })
  const verified = await ada.run(inAcme('workspace', 'verify'))
  expect([verified.code, verified.out]).toEqual([
    1,
    expect.stringContaining('the server calls it one-ci'),
  ])
  await ada.must(...bot, 'workload-token', 'revoke', last)
  await swap()
  await ada.must(...bot, 'token', 'revoke', 'swapped', 'one')
  await ada.must(...bot, 'workload-token', 'revoke', 'one-ci')
})

test.each([
  ['project', ['project', 'delete', 'ending', '--yes']],
  ['environment', ['env', 'delete', 'development', '-p', 'ending', '--yes']],
])('tokens that end with their %s are revoked by links', async (_, command) => {
  await ada.run(inAcme('project', 'create', 'ending'))
  const here = inAcme('-p', 'ending')
  await ada.must(...here, 'secrets', 'set', 'KEY=value')
  const { id: ci } = (await ada.json(...here, 'workload-token', 'issue', 'ci')) as { id: string }
  await ada.must(...here, 'agent', 'create', `bot-${_}`)
  const tokens = (await ada.json(...here, 'token', 'list', `bot-${_}`)) as { id: string }[]
  await ada.must(...inAcme(...command))
  const log = (await ada.json(...inAcme('workspace', 'log'))) as { what: string }[]
  const revoked = log.slice(-2).map(({ what }) => what)
  for (const { id } of [{ id: ci }, ...tokens]) expect(revoked).toContain(`revoked 1 token: ${id}`)
})

test('a role in the database alone gives no right to sign', async () => {
  const { sql } = app.connection
  await sql`update memberships m set role = 'admin', status = 'active' from users u
    where u.id = m.user_id and u.email = 'eve@example.com'
      and m.workspace_id = (select id from workspaces where name = 'acme')`
  const { code, err } = await eve.run(inAcme('allowlist', 'add', 'evil.example', '--json'))
  expect([code, JSON.parse(err.trim().split('\n').at(-1) ?? '')]).toMatchObject([
    5,
    { error: { code: 'forbidden' } },
  ])
  await sql`update memberships m set role = 'member', status = 'invited' from users u
    where u.id = m.user_id and u.email = 'eve@example.com'
      and m.workspace_id = (select id from workspaces where name = 'acme')`
})

test('nothing is sealed to a member key that the server replaced', async () => {
  const { sql } = app.connection
  const [before] = await sql`select public_key, signing_key, key_proof from users
    where email = 'eve@example.com'`
  await sql`update users set (public_key, signing_key, key_proof) =
    (select public_key, signing_key, key_proof from users where email = 'bob@example.com')
    where email = 'eve@example.com'`
  const replaced = await ada.run(inviting('eve@example.com'))
  await sql`update users set signing_key = null where email = 'eve@example.com'`
  const dropped = await ada.run(inviting('eve@example.com'))
  for (const [{ code, err }, reason] of [
    [replaced, 'unproven_key'],
    [dropped, 'replaced_keys'],
  ] as const)
    expect([code, JSON.parse(err)]).toMatchObject([5, { error: { code: reason } }])
  await sql`update users set public_key = ${before?.public_key},
    signing_key = ${before?.signing_key}, key_proof = ${before?.key_proof}
    where email = 'eve@example.com'`
  expect((await ada.run(inviting('eve@example.com', '--role', 'read_only'))).code).toBe(0)
  expect(await signed()).toMatchObject({ 'eve@example.com': 'read_only' })
})

test('a member must leave every signed workspace before deleting the account', async () => {
  const args = ['account', 'delete', '--yes', '--password-stdin', '--json']
  const refused = await bob.run(args, { stdin: `${PASSWORD}\n` })
  expect([refused.code, JSON.parse(refused.err)]).toMatchObject([
    5,
    { error: { code: 'still_member', message: 'you are a member of signed workspaces: acme' } },
  ])
  expect(await signed()).toMatchObject({ 'bob@example.com': 'admin' })
})

test('the links record who declined, left or was removed', async () => {
  await eve.must('workspace', 'decline', 'acme')
  expect(await signed()).toEqual({ 'ada@example.com': 'owner', 'bob@example.com': 'admin' })
  const last = await ada.run(inAcme('workspace', 'remove', 'ada@example.com', '--yes', '--json'))
  expect([last.code, JSON.parse(last.err)]).toMatchObject([5, { error: { code: 'last_owner' } }])
  await bob.must(...inAcme('workspace', 'remove', 'bob@example.com', '--yes'))
  const again = ['--fingerprint', await fingerprintOf(eve)]
  await ada.must(...inAcme('workspace', 'invite', 'eve@example.com', ...again))
  await ada.must(...inAcme('workspace', 'remove', 'eve@example.com', '--yes'))
  expect(await signed()).toEqual({ 'ada@example.com': 'owner' })
})

test('a terminal prints the fingerprint and asks', async () => {
  const asked = (answer: string) =>
    answering(inAcme('workspace', 'invite', 'bob@example.com'), {
      cwd: ada.cwd,
      env: { HOME: ada.home, SERVICE_SERVER_URL: app.controlPlane },
      typed: [{ when: '(y/N)', type: `${answer}\r` }],
    })
  const { code, screen } = await asked('n')
  expect([code, screen]).toEqual([5, expect.stringContaining(await fingerprintOf(bob))])
  expect(await signed()).toEqual({ 'ada@example.com': 'owner' })
  expect((await asked('y')).code).toBe(0)
  expect(await signed()).toMatchObject({ 'bob@example.com': 'member' })
})

test('the client accepts only the committed key, even if the database has another', async () => {
  const putBack = await replaceKey('ada@example.com')
  const { code, err } = await ada.run(inAcme('project', 'create', 'billing', '--json'))
  const accepted = await ada.run(['workspace', 'accept-key', 'acme', '--yes'])
  await putBack()
  expect([code, JSON.parse(err)]).toMatchObject([5, { error: { code: 'unverified_workspace' } }])
  expect([accepted.code, accepted.err]).toEqual([
    5,
    expect.stringContaining('its key is not the key of epoch 1'),
  ])
  expect(await ada.must(...inAcme('project', 'create', 'billing'))).toContain('billing')
})

test('a rekey is due by the links, even if the server withdraws its hint', async () => {
  const due = async () => {
    const list = (await ada.json('workspace', 'list')) as { name: string; rekey_required: string }[]
    const verified = await ada.json(...inAcme('workspace', 'verify'))
    const { rekey_required } = verified as { rekey_required: string }
    return [list.find(({ name }) => name === 'acme')?.rekey_required, rekey_required]
  }
  await app.connection.sql`update workspaces set rekey_required = false`
  expect(await due()).toEqual(['yes', 'yes'])
  await app.connection.sql`create table kept_links as table workspace_links`
  await app.connection.sql`delete from workspace_links`
  const list = await ada.must('workspace', 'list')
  await app.connection.sql`insert into workspace_links select * from kept_links`
  expect(list.split('\n').find((line) => line.startsWith('acme'))).toContain('unverified')
  await ada.must(...inAcme('workspace', 'rekey', '--yes'))
  expect(await due()).toEqual(['', ''])
})

test('a workspace ends by a link of its owner', async () => {
  await ada.must('workspace', 'delete', 'acme', '--yes')
  expect(await ada.must('workspace', 'list')).not.toContain('acme')
})
