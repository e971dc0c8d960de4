// tier: quick
/** Typical typing mistakes of new users: each error names the mistake and the next command, and creates nothing. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { writeWhole } from '../../src/operator/backup/file.ts'
import { freshEmail, sharedApp, type TestApp } from '../support/app.ts'

import { openAccount, type Terminal } from './person.ts'

const email = freshEmail('ada')
let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, email)
  await ada.must('workspace', 'create', 'acme')
  await ada.must('workspace', 'use', 'acme')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', 'STRIPE_KEY=a-secret-value')
  await ada.must('allowlist', 'add', 'echo.internal', '*.wild.example')
  await ada.must('agent', 'create', 'bot')
})
afterAll(() => {
  ada.remove()
})

const refusal = (code: number, message: string, hint: string) => ({
  code,
  out: '',
  err: `cloakroom: ${message}\n→ ${hint}\n`,
})
type Listed = { hosts: string[] | null; secrets: string[] | null }[]

test('a token is narrowed only to hosts and secrets that exist, unless --allow-unknown is given', async () => {
  const issue = ['token', 'issue', 'bot']
  const otherwise = 'add --allow-unknown to accept it'
  expect(await ada.run([...issue, '--secret', 'STRIPE_KY', '--host', 'echo.internal'])).toEqual(
    refusal(
      4,
      'there is no secret STRIPE_KY in payments/development (not_found)',
      `is it STRIPE_KEY? ${otherwise}`,
    ),
  )
  expect(await ada.run([...issue, '--secret', 'STRIPE_KEY', '--host', 'echo.internl'])).toEqual(
    refusal(
      4,
      'there is no allowed host echo.internl in acme (not_found)',
      `is it echo.internal? ${otherwise}`,
    ),
  )
  expect(await ada.json('token', 'list', 'bot')).toHaveLength(1)
  expect(await ada.must('token', 'list', 'bot')).not.toMatch(/HOSTS|SECRETS/)
  await ada.must(...issue, '--label', 'whole', '--secret', 'STRIPE_KEY', '--host', 'a.wild.example')
  await ada.must(
    ...issue,
    '--label',
    'new',
    '--secret',
    'NEW',
    '--host',
    'new.example',
    '--allow-unknown',
  )
  const listed = (await ada.json('token', 'list', 'bot')) as Listed
  expect(listed.map(({ hosts, secrets }) => [hosts, secrets])).toContainEqual([
    ['new.example'],
    ['NEW'],
  ])
  expect(await ada.must('token', 'list', 'bot')).toMatch(
    /HOSTS +SECRETS[\s\S]*a\.wild\.example +STRIPE_KEY/,
  )
})

test('a person who is not a member cannot be removed or given a role', async () => {
  for (const args of [['remove'], ['role']]) {
    const line = [
      'workspace',
      ...args,
      'nobody@x.example',
      ...(args[0] === 'role' ? ['admin'] : []),
    ]
    expect(await ada.run(line)).toEqual(
      refusal(
        4,
        'nobody@x.example is not a member of acme (not_found)',
        'list the members with: cloakroom workspace members',
      ),
    )
  }
})

test('an invalid value is rejected with the rule and the similar word', async () => {
  const days = await ada.run(['token', 'issue', 'bot', '--expires-in-days', '0'])
  expect([days.code, days.err]).toEqual([
    2,
    expect.stringContaining('must be 1 to 3650 or never, not 0'),
  ])
  const place = await ada.run(['policy', 'set', 'STRIPE_KEY', '--locations', 'headr'])
  expect([place.code, place.err]).toEqual([
    2,
    expect.stringContaining(
      '--locations is invalid: headr is unknown (usage)\n→ did you mean header? use one of header, basic,',
    ),
  ])
  const cut = await ada.run(['whoami', '--token', 'svc_agt_cut'])
  expect(cut.err).toContain('this token is incomplete or was altered')
  ada.write('bad.env', '1BAD=x\n')
  const { err } = await ada.run(['secrets', 'push', 'bad.env'])
  expect(err).toContain('1BAD is not a valid secret name: it must be at most 128 letters')
})

test('registering a known address names the commands that open the account', async () => {
  const password = 'a long passphrase that stays here'
  const again = await ada.run(['register', email, '--password-stdin'], { stdin: password })
  expect(again).toEqual(
    refusal(
      5,
      `${email} already has an account on this server (account_exists)`,
      `sign in with: cloakroom login ${email}; if you forgot the password: cloakroom recover ${email}`,
    ),
  )
})

test('whoami omits the name of a person without one', async () => {
  expect(await ada.must('whoami')).not.toMatch(/^name/m)
})

test('call reports an invalid URL as a URL, and push a folder as a folder', async () => {
  const { err } = await ada.run(['secrets', 'push', ada.cwd])
  expect(err).toContain(`${ada.cwd} is a folder`)
  const token = (await ada.json('token', 'issue', 'bot')) as { token: string }
  const called = await ada.run(['call', 'http://echo.internal/'], {
    env: { SERVICE_TOKEN: token.token },
  })
  expect(called.err).toContain('cloakroom: The URL begins with http: credentials are only sent')
})

test('an existing name is rejected with the command for the existing object', async () => {
  expect(await ada.run(['agent', 'create', 'bot'])).toEqual(
    refusal(
      5,
      'an agent bot exists (name_taken)',
      'issue another token for it: cloakroom token issue bot',
    ),
  )
  expect(await ada.run(['secrets', 'undelete', 'STRIPE_KEY'])).toEqual(
    refusal(
      4,
      'STRIPE_KEY is not deleted: it is in payments/development (not_found)',
      'see its versions with: cloakroom secrets history STRIPE_KEY -e development',
    ),
  )
  const { code, err } = await ada.run(['run', '--', 'no-such-program'])
  expect([code, err]).toEqual([
    127,
    expect.stringContaining(
      'program not found: no-such-program (program_not_found)\n→ check the name and PATH\n',
    ),
  ])
})

test('backup onto a folder or file asks for another name', async () => {
  ada.write('taken', '')
  const write = () => Promise.resolve(null)
  const hintOf = ({ hint }: { hint: string | null }) => hint
  expect(await writeWhole(ada.cwd, write).catch(hintOf)).toBe(`pass a file: ${ada.cwd}/backup`)
  expect(await writeWhole(join(ada.cwd, 'taken'), write).catch(hintOf)).toBe(
    'pass another file, or delete it first',
  )
})

test('workspace join suggests accept', async () => {
  const { err } = await ada.run(['workspace', 'join', 'acme'])
  expect(err).toContain('Did you mean accept')
})
