// tier: quick
/** People of a workspace, signed or plain. signed_members.test.ts has the tests for signed ones only. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startTestApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { answering } from './answering.ts'
import { openAccount, type Terminal } from './person.ts'
import { plainWorkspace, signedWorkspace } from './signed_person.ts'

let app: TestApp
let ada: Terminal
let bob: Terminal
let eve: Terminal

beforeAll(async () => {
  app = await startTestApp()
  ada = await openAccount(app, 'ada@example.com')
  bob = await openAccount(app, 'bob@example.com')
  eve = await openAccount(app, 'eve@example.com')
  await plainWorkspace(app, 'ada@example.com', 'plain')
  await signedWorkspace(app, 'ada@example.com', 'signed')
})
afterAll(async () => {
  for (const person of [ada, bob, eve]) person.remove()
  await app.stop()
})

const fingerprintOf = async (person: Terminal) =>
  ((await person.json('whoami')) as { fingerprint: string }).fingerprint

test('a person without an account cannot be invited', async () => {
  const { code, err } = await ada.run(['workspace', 'invite', 'nobody@example.com', '-w', 'signed'])
  expect(code).toBe(4)
  expect(err).toContain('nobody@example.com has no account here')
})

describe('keys of other people, in a plain workspace', () => {
  beforeAll(async () => {
    await ada.must('workspace', 'use', 'plain')
  })

  test('inviting several people prints the new fingerprints', async () => {
    const { code, out, err } = await ada.run([
      'workspace',
      'invite',
      'bob@example.com',
      'eve@example.com',
      '--json',
    ])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual([
      { email: 'bob@example.com', status: 'invited' },
      { email: 'eve@example.com', status: 'invited' },
    ])
    expect(err).toBe(
      `bob@example.com  ${await fingerprintOf(bob)}\neve@example.com  ${await fingerprintOf(eve)}\n`,
    )
  })

  test('a pinned key is not printed again', async () => {
    const { err } = await ada.run(['workspace', 'invite', 'bob@example.com'])
    expect(err).toBe('')
  })

  test('a changed public key is rejected until it is accepted', async () => {
    const path = join(ada.home, '.config', 'cloakroom', 'session.json')
    const session = JSON.parse(readFileSync(path, 'utf8'))
    const others = {
      ...session.knownKeys,
      'bob@example.com': Buffer.alloc(32, 1).toString('base64'),
    }
    writeFileSync(path, JSON.stringify({ ...session, knownKeys: others }))
    const refused = await ada.run(['workspace', 'invite', 'bob@example.com'])
    expect(refused.code).toBe(5)
    expect(refused.err).toContain('the public key of bob@example.com has changed')
    expect(
      (await ada.run(['workspace', 'invite', 'bob@example.com', '--accept-changed-keys'])).code,
    ).toBe(0)
  })

  test('keys without proof for the address are rejected, and no value is sealed to them', async () => {
    const { sql } = app.connection
    const emails = ['bob@example.com', 'eve@example.com']
    const [bobs, eves] = await Promise.all(
      emails.map(
        async (email) =>
          (await sql`select key_proof from users where email = ${email}`)[0]?.key_proof,
      ),
    )
    for (const proof of [eves, null]) {
      await sql`update users set key_proof = ${proof} where email = 'bob@example.com'`
      const refused = await ada.run(['workspace', 'invite', 'bob@example.com', '--json'])
      expect(refused.code).toBe(5)
      expect(JSON.parse(refused.out || refused.err)).toMatchObject({
        error: { code: 'unproven_key' },
      })
    }
    await sql`update users set key_proof = ${bobs} where email = 'bob@example.com'`
    await ada.must('workspace', 'invite', 'bob@example.com')
  })

  test('a person without the signing key that was pinned is a different person', async () => {
    const { sql } = app.connection
    const [row] = await sql`select signing_key from users where email = 'bob@example.com'`
    await sql`update users set signing_key = null where email = 'bob@example.com'`
    const refused = await ada.run(['workspace', 'invite', 'bob@example.com'])
    expect(refused).toMatchObject({ code: 5, err: expect.stringContaining('has changed') })
    await sql`update users set signing_key = ${row?.signing_key} where email = 'bob@example.com'`
    await ada.must('workspace', 'invite', 'bob@example.com')
  })
})

describe.each(['plain', 'signed'])('a %s workspace', (acme) => {
  test('invited people accept or decline, and read earlier secrets', async () => {
    await ada.must('workspace', 'use', acme)
    const emails = ['bob@example.com', 'eve@example.com']
    const fingerprints = await Promise.all([bob, eve].map(fingerprintOf))
    const compared = emails.flatMap((email, at) => [
      '--fingerprint',
      `${email}=${fingerprints[at]}`,
    ])
    await ada.must('workspace', 'invite', ...emails, ...compared)
    await ada.must('project', 'create', 'shared')
    await ada.must('secrets', 'set', marked('SHARED='), '-p', 'shared')
    const { id } = ((await bob.json('workspace', 'list')) as { id: string; name: string }[]).find(
      ({ name }) => name === acme,
    ) ?? { id: '' }
    for (const named of [acme, id]) {
      expect(
        await bob.run(['secrets', 'get', 'SHARED', '-w', named, '-p', 'shared']),
      ).toMatchObject({
        code: 4,
        err: `cloakroom: you are invited to ${acme} but have not accepted (not_found)\n→ accept it with: cloakroom workspace accept ${acme}\n`,
      })
    }
    await bob.must('workspace', 'accept', acme)
    expect(await bob.reveal('secrets', 'get', 'SHARED', '-w', acme, '-p', 'shared')).toBe(
      marked(''),
    )
    await eve.must('workspace', 'decline', acme)
    expect(await eve.json('workspace', 'list')).toHaveLength(1)
    expect((await eve.run(['workspace', 'accept', acme])).code).toBe(4)
  })

  test('members are listed and their roles are changed', async () => {
    expect((await bob.run(['allowlist', 'add', 'api.example.com', '-w', acme])).code).toBe(5)
    await ada.must('workspace', 'role', 'bob@example.com', 'admin')
    await bob.must('allowlist', 'add', 'api.example.com', '-w', acme)
    const members = (await bob.json('workspace', 'members', '-w', acme)) as {
      email: string
      role: string
    }[]
    expect(members.map(({ email, role }) => [email, role]).sort()).toEqual([
      ['ada@example.com', 'owner'],
      ['bob@example.com', 'admin'],
    ])
    expect((await ada.run(['workspace', 'role', 'bob@example.com', 'emperor'])).code).toBe(2)
  })

  test('a rekey after a removal seals everything again, excludes the former member, and keeps tokens valid', async () => {
    const issued = await ada.run([
      'agent',
      'create',
      'bot',
      '--may',
      'use,read',
      '-p',
      'shared',
      '--json',
    ])
    const { token } = JSON.parse(issued.out)
    const running = ['run', '--no-mask', '--', 'sh', '-c', 'printf %s "$SHARED"']
    expect((await bob.run(running, { env: { SERVICE_TOKEN: token }, reveals: true })).out).toBe(
      marked(''),
    )
    await ada.must('workspace', 'remove', 'bob@example.com', '--yes')
    expect((await bob.run(['secrets', 'get', 'SHARED', '-w', acme, '-p', 'shared'])).code).toBe(4)
    const before = (await ada.json('workspace', 'list')) as {
      name: string
      rekey_required: string
    }[]
    expect(before.find(({ name }) => name === acme)?.rekey_required).toBe('yes')
    await ada.must('secrets', 'set', 'GONE=x', 'CHANGED=1', '-p', 'shared')
    await ada.must('secrets', 'set', 'CHANGED=2', '-p', 'shared')
    await ada.must('secrets', 'delete', 'GONE', '--yes', '-p', 'shared')
    const asked = await answering(['workspace', 'rekey'], {
      cwd: ada.cwd,
      env: { HOME: ada.home, SERVICE_SERVER_URL: app.controlPlane },
      typed: [{ when: '(y/N)', type: 'n\r' }],
    })
    expect([asked.code, Bun.stripANSI(asked.screen).replace(/\s+/g, '')]).toEqual([
      5,
      expect.stringContaining(
        'Thispermanentlydeletes:earlierversions(of1secret)anddeleteditems(1deletedsecret,andprojects).',
      ),
    ])
    expect((await ada.run(['workspace', 'rekey'])).code).toBe(2)
    await ada.must('secrets', 'delete', 'CHANGED', '--yes', '-p', 'shared')
    expect(await ada.json('workspace', 'rekey', '--yes')).toEqual({
      epoch: 2,
      members: 1,
      tokens: 1,
      secrets: 1,
      left: [],
    })
    const after = (await ada.json('workspace', 'list')) as {
      name: string
      epoch: number
      rekey_required: string
    }[]
    expect(after.find(({ name }) => name === acme)).toEqual(
      expect.objectContaining({ epoch: 2, rekey_required: '' }),
    )
    expect(await ada.reveal('secrets', 'get', 'SHARED', '-p', 'shared')).toBe(marked(''))
    expect((await bob.run(running, { env: { SERVICE_TOKEN: token }, reveals: true })).out).toBe(
      marked(''),
    )
  })
})
