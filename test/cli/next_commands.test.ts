// tier: quick
/** Commands that would do something other than intended: each error names the next command. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { sharedApp, type TestApp } from '../support/app.ts'
import { openAccount, openTerminal, type Terminal } from './person.ts'

const ADA = 'ada@next-commands.example'
const BOB = 'bob@next-commands.example'
let app: TestApp
let ada: Terminal
let bob: Terminal
let fingerprint: string

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, ADA)
  bob = await openAccount(app, BOB)
  await ada.must('workspace', 'create', 'acme')
  fingerprint = ((await bob.json('whoami')) as { fingerprint: string }).fingerprint
})
afterAll(() => {
  ada.remove()
  bob.remove()
})

const refusal = (code: number, message: string, hint: string) => ({
  code,
  out: '',
  err: `cloakroom: ${message}\n→ ${hint}\n`,
})

test('an invitation names workspace and role, and a personal workspace must be named', async () => {
  const invite = ['workspace', 'invite', BOB, '--fingerprint', `${BOB}=${fingerprint}`]
  const refused = refusal(
    2,
    'Personal is a personal workspace; nobody was invited (usage)',
    'create a shared one with: cloakroom workspace create NAME; then add -w NAME',
  )
  expect(await ada.run(invite)).toEqual(refused)
  expect(await ada.json('workspace', 'members')).toHaveLength(1)
  expect(await ada.must(...invite, '-w', 'acme', '--role', 'admin')).toMatch(
    new RegExp(`${BOB} +invited +admin +acme`),
  )
  // A first project writes the workspace into the project file without being asked.
  await ada.must('init', 'payments')
  expect(await ada.run(invite)).toEqual(refused)
})

test('the hint to log in has the argument that login needs', async () => {
  const eve = await openTerminal(app)
  expect(await eve.run(['whoami'])).toEqual(
    refusal(3, 'not signed in (not_logged_in)', 'sign in with: cloakroom login EMAIL'),
  )
  eve.remove()
})

test('workspace leave suggests removing the own address', async () => {
  const { code, err } = await ada.run(['workspace', 'leave'])
  expect([code, err]).toEqual([2, expect.stringContaining('Did you mean remove YOUR_ADDRESS?')])
  expect(await ada.must('workspace', 'role', '--help')).toContain(
    'Leave a workspace: cloakroom workspace remove YOUR_ADDRESS',
  )
})

test('the error for the last owner of a workspace explains how another member becomes an owner', async () => {
  const hint = 'make another member an owner first: cloakroom workspace role EMAIL owner'
  for (const args of [
    ['remove', ADA, '--yes'],
    ['role', ADA, 'member'],
  ]) {
    const { code, err } = await ada.run(['workspace', ...args, '-w', 'acme'])
    expect([args, code, err]).toEqual([args, 5, expect.stringContaining(`→ ${hint}\n`)])
  }
})

test('removing a host that is not on the allowlist suggests the similar one, and removes none', async () => {
  await ada.must('allowlist', 'add', 'api.stripe.com', 'b.example', '-w', 'acme')
  const remove = (...hosts: string[]) => ada.run(['allowlist', 'remove', ...hosts, '-w', 'acme'])
  expect(await remove('b.example', 'api.strip.com')).toEqual(
    refusal(
      4,
      'there is no allowed host api.strip.com in acme (not_found)',
      'is it api.stripe.com?',
    ),
  )
  expect((await remove('API.stripe.com:443', 'b.example')).code).toBe(0)
})

test('init with another name keeps the project of the folder, unless --yes is given', async () => {
  await ada.must('init', 'payments')
  expect(await ada.run(['init', 'paymets'])).toEqual(
    refusal(
      5,
      'this folder uses the project payments; nothing was changed (file_exists)',
      'is it payments? to use another project here, run: cloakroom init paymets --yes',
    ),
  )
  expect(await ada.must('project', 'list', '-q')).not.toContain('paymets')
  await ada.must('init', 'billing', '--yes')
  await ada.must('init', 'payments', '--yes')
})

test('a second workspace of the same name is created with --yes only', async () => {
  await ada.must('workspace', 'create', 'twice')
  expect(await ada.run(['workspace', 'create', 'twice'])).toEqual(
    refusal(
      5,
      'you already have a workspace twice; nothing was created (name_taken)',
      'use it with: cloakroom workspace use twice; or add --yes to create another one',
    ),
  )
  await ada.must('workspace', 'create', 'twice', '--yes')
})

test('push --prune prints the command that restores what it deleted', async () => {
  await ada.must('secrets', 'set', 'KEPT=1', 'OLD=2')
  ada.write('kept.env', 'KEPT=1\n')
  expect(await ada.must('secrets', 'push', 'kept.env', '--prune', '--yes')).toBe(
    'payments/development: 0 created, 0 updated, 1 deleted; for 7 days: cloakroom secrets undelete OLD -e development\n',
  )
})

test('secrets pull creates no missing folder, and does not overwrite a folder', async () => {
  const path = join(ada.home, 'missing', 'x.env')
  const folder = join(ada.home, 'missing')
  expect(await ada.run(['secrets', 'pull', path])).toEqual(
    refusal(
      2,
      `the folder ${folder} does not exist; nothing was done (invalid_file)`,
      `create it with: mkdir -p ${folder}`,
    ),
  )
  expect(existsSync(folder)).toBe(false)
  mkdirSync(join(ada.cwd, 'place'))
  expect(await ada.run(['secrets', 'pull', 'place'])).toEqual(
    refusal(2, 'place is a folder; nothing was written (invalid_file)', 'name a file in it'),
  )
  const { err } = await ada.run(['secrets', 'push', 'place'])
  expect(err).toContain('place is a folder')
})
