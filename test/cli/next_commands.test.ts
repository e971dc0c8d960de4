// tier: quick
/** Commands that would do something else than was meant: each refusal names the next command. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
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

test('an invitation names workspace and role, and a personal workspace has to be named', async () => {
  const invite = ['workspace', 'invite', BOB, '--fingerprint', `${BOB}=${fingerprint}`]
  const refused = refusal(
    2,
    'Personal is a personal workspace; nobody was invited',
    'create a shared one with: cloakroom workspace create NAME; then add -w NAME',
  )
  expect(await ada.run(invite)).toEqual(refused)
  expect(await ada.json('workspace', 'members')).toHaveLength(1)
  expect(await ada.must(...invite, '-w', 'acme', '--role', 'admin')).toMatch(
    new RegExp(`${BOB} +invited +admin +acme`),
  )
  // A first project writes the workspace into the project file, which nobody named.
  await ada.must('init', 'payments')
  expect(await ada.run(invite)).toEqual(refused)
})

test('the hint to log in has the argument that login needs', async () => {
  const eve = await openTerminal(app)
  expect(await eve.run(['whoami'])).toEqual(
    refusal(3, 'nobody is logged in', 'log in with: cloakroom login EMAIL'),
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

test('the last owner of a workspace learns how another member becomes an owner', async () => {
  const hint = 'make another member an owner first: cloakroom workspace role EMAIL owner'
  for (const args of [
    ['remove', ADA, '--yes'],
    ['role', ADA, 'member'],
  ]) {
    const { code, err } = await ada.run(['workspace', ...args, '-w', 'acme'])
    expect([args, code, err]).toEqual([args, 5, expect.stringContaining(`→ ${hint}\n`)])
  }
})
