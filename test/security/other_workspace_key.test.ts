// tier: quick
/**
 * An attacker with the database and ENCRYPTION_KEY seals a forged workspace key to a member, or puts an older
 * epoch back. The attacker could read everything that the member stores or grants under such a key, so the
 * client remembers which key it saw. This is about plain workspaces; in signed ones the links name the key.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { UntrustedKey } from '../../src/client/workspace_key.ts'
import { sealMemberEnvelope } from '../../src/core/crypto/envelope.ts'
import { OuterLayer } from '../../src/core/crypto/outer_layer.ts'
import { sealEnvelope } from '../../src/features/workspaces/memberships.ts'
import { VaultCache } from '../../src/proxy/local/vault_snapshot.ts'
import { openAccount, type Terminal } from '../cli/person.ts'
import { plainWorkspace } from '../cli/signed_person.ts'
import { startTestApp, type TestApp } from '../support/app.ts'

let app: TestApp
let ada: Terminal
let bob: Terminal

const KNOWN = 'has changed (epoch 1); nothing was done'

beforeAll(async () => {
  app = await startTestApp()
  ada = await openAccount(app, 'ada@example.com')
  bob = await openAccount(app, 'bob@example.com')
  await plainWorkspace(app, 'ada@example.com', 'acme')
  await ada.must('workspace', 'use', 'acme')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', 'A_KEY=first value')
})
afterAll(async () => {
  ada.remove()
  bob.remove()
  await app.stop()
})

type Member = { workspaceId: string; userId: string; publicKey: Uint8Array; epoch: number }

async function member(email: string): Promise<Member> {
  const [found] = await app.connection.sql<Member[]>`
    select w.id as "workspaceId", u.id as "userId", u.public_key as "publicKey", w.epoch
    from workspaces w join memberships m on m.workspace_id = w.id join users u on u.id = m.user_id
    where w.name = 'acme' and u.email = ${email}`
  if (!found) throw new Error('no such member')
  return found
}

async function sealedTo(email: string, key: Uint8Array, epoch: number): Promise<void> {
  const { workspaceId, userId, publicKey } = await member(email)
  const place = { workspaceId, recipientPublicKey: new Uint8Array(publicKey), epoch }
  const outer = OuterLayer.parse(app.config.ENCRYPTION_KEY)
  const envelope = await sealMemberEnvelope(place, key)
  const blob = await sealEnvelope(outer, { workspaceId, userId }, envelope)
  await app.connection.sql`
    update memberships set encrypted_workspace_key = decode(${blob.toHex()}, 'hex')
    where workspace_id = ${workspaceId} and user_id = ${userId}`
  await app.connection.sql`update workspaces set epoch = ${epoch} where id = ${workspaceId}`
}

/** Runs an action with changed rows, and restores them. */
async function during(change: () => Promise<void>, act: () => Promise<void>): Promise<void> {
  const { sql } = app.connection
  const [{ all }] = (await sql`
    select coalesce(json_agg(json_build_object('w', workspace_id, 'u', user_id,
      'k', encode(encrypted_workspace_key, 'hex'))), '[]') as all from memberships`) as never as [
    { all: { w: string; u: string; k: string }[] },
  ]
  const [before] = await sql<{ epoch: number }[]>`select epoch from workspaces where name = 'acme'`
  await change()
  try {
    await act()
  } finally {
    for (const { w, u, k } of all) {
      await sql`update memberships set encrypted_workspace_key = decode(${k}, 'hex')
        where workspace_id = ${w} and user_id = ${u}`
    }
    await sql`update workspaces set epoch = ${before?.epoch ?? 1} where name = 'acme'`
  }
}

const attackers = () => sealedTo('ada@example.com', new Uint8Array(32).fill(9), 1)

test.each([
  ['set', ['secrets', 'set', 'NEW_KEY=second value']],
  ['push', ['secrets', 'push', 'new.env']],
  ['invite', ['workspace', 'invite', 'bob@example.com']],
  ['agent create', ['agent', 'create', 'bot']],
  ['workload-token issue', ['workload-token', 'issue', 'ci']],
  ['rekey', ['workspace', 'rekey', '--yes']],
  ['the local proxy', ['proxy', '--local', '--', 'true']],
  ['the remote proxy with its own token', ['proxy', '--remote', '--agent', 'x', '--', 'true']],
  ['run', ['run', '--', 'true']],
])('%s rejects another key of a known epoch', async (_, args) => {
  ada.write('new.env', 'NEW_KEY=second value\n')
  await during(attackers, async () => {
    const { code, err } = await ada.run(['--json', ...args])
    expect([code, JSON.parse(err.trim().split('\n').at(-1) ?? '')]).toEqual([
      5,
      {
        error: {
          code: 'changed_key',
          message: `the key of acme ${KNOWN}`,
          hint: 'compare it with another member, then accept it: cloakroom workspace accept-key acme',
        },
      },
    ])
  })
  expect(await ada.json('secrets', 'list')).toHaveLength(1)
})

test('commands continue with the pinned key', async () => {
  await ada.must('secrets', 'set', 'A_KEY=third value')
  expect(await ada.reveal('secrets', 'get', 'A_KEY')).toBe('third value')
})

test('a logout does not remove the pinned key', async () => {
  const logIn = ['login', 'ada@example.com', '--password-stdin', '--insecure-storage']
  await ada.must('logout')
  await ada.run(logIn, { stdin: 'a long passphrase that stays here\n' })
  await during(attackers, async () => {
    expect((await ada.run(['secrets', 'set', 'B_KEY=x'])).code).toBe(5)
  })
})

test('accept-key prints the fingerprints to compare, and accepts the key after a yes', async () => {
  const shown = async () =>
    (await ada.json('workspace', 'accept-key', 'acme')) as { fingerprint: string }
  const { fingerprint } = await shown()
  expect(fingerprint).toMatch(/^([0-9a-f]{4} ){15}[0-9a-f]{4}$/)
  await during(attackers, async () => {
    const asked = await ada.run(['workspace', 'accept-key', 'acme'])
    expect([asked.code, asked.err]).toEqual([
      2,
      expect.stringContaining(`known: epoch 1  ${fingerprint}\n`),
    ])
    await ada.must('workspace', 'accept-key', 'acme', '--yes')
    const other = await shown()
    expect(other.fingerprint).not.toBe(fingerprint)
    await ada.must('secrets', 'list')
  })
  expect((await ada.run(['secrets', 'list'])).code).toBe(5)
  await ada.must('workspace', 'accept-key', 'acme', '--yes')
})

test('two members who compare see the same fingerprint', async () => {
  await ada.must('workspace', 'invite', 'bob@example.com')
  await bob.must('workspace', 'accept', 'acme')
  const both = await Promise.all(
    [ada, bob].map((person) => person.must('workspace', 'accept-key', 'acme', '--quiet')),
  )
  expect(new Set(both).size).toBe(1)
})

test('an expired epoch is rejected, and a new one is accepted and reported', async () => {
  const { sql } = app.connection
  const rows = (await sql`
    select id, encode(value, 'hex') as value from secrets`) as never as {
    id: string
    value: string
  }[]
  const envelopes = (await sql`select user_id as user, encode(encrypted_workspace_key, 'hex') as key
    from memberships m join workspaces w on w.id = m.workspace_id where w.name = 'acme'`) as never as {
    user: string
    key: string
  }[]
  const rekeyed = await ada.run(['workspace', 'rekey', '--yes'])
  expect([rekeyed.code, rekeyed.err.includes('rekeyed')]).toEqual([0, false])
  expect((await ada.run(['secrets', 'list'])).err).toBe('')
  const listed = await bob.run(['secrets', 'list', '-w', 'acme', '-p', 'payments'])
  expect(listed).toMatchObject({
    code: 0,
    err: 'acme has a new key, epoch 2: a member rekeyed it\n',
  })
  const older = async () => {
    for (const { id, value } of rows) {
      await sql`update secrets set value = decode(${value}, 'hex') where id = ${id}`
    }
    for (const { user, key } of envelopes) {
      await sql`update memberships m set encrypted_workspace_key = decode(${key}, 'hex')
        from workspaces w where w.id = m.workspace_id and w.name = 'acme' and m.user_id = ${user}`
    }
    await sql`update workspaces set epoch = 1 where name = 'acme'`
  }
  await during(older, async () => {
    for (const person of [ada, bob]) {
      const { code, err } = await person.run([
        'secrets',
        'get',
        'A_KEY',
        '-w',
        'acme',
        '-p',
        'payments',
      ])
      expect([code, err]).toEqual([
        5,
        expect.stringContaining(
          'the server has an older key of acme: epoch 1, but this machine has seen epoch 2',
        ),
      ])
    }
  })
})

test('a running local proxy stops using values', async () => {
  const fault = new UntrustedKey('the key of acme has changed (epoch 1)')
  const vault = new VaultCache({
    api: app.as(),
    workspace: () => Promise.reject(fault),
    projectId: '',
    environment: '',
  })
  await expect(vault.current()).rejects.toMatchObject({
    code: 'forbidden',
    message: `The call was not sent: ${fault.message}.`,
  })
})
