// tier: quick
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sharedApp, type TestApp } from '../support/app.ts'
import { openAccount, PASSWORD, type Terminal } from './person.ts'

let app: TestApp
let ada: Terminal

const session = () => readFileSync(join(ada.home, '.config/cloakroom/session.json'), 'utf8')
const call = (agent: string, ...more: string[]) =>
  ada.run(['call', '--agent', agent, 'https://elsewhere.example/', ...more])

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@saved-tokens.example')
  await ada.must('init', 'payments')
})
afterAll(() => {
  ada.remove()
})

test('a saved token is not printed, and is used by the name of its agent', async () => {
  const made = await ada.run(['agent', 'create', 'bot', '--save', '--json'])
  expect(made.out + made.err).not.toContain('svc_agt_')
  // The token was accepted, because only the domain is refused.
  expect((await call('bot')).err).toContain('domain_blocked')
})

test('a new login keeps a saved token, and deleting its agent removes it', async () => {
  const options = { stdin: `${PASSWORD}\n` }
  await ada.run(
    ['login', 'ada@saved-tokens.example', '--password-stdin', '--insecure-storage'],
    options,
  )
  expect((await call('bot')).err).toContain('domain_blocked')
  await ada.must('agent', 'delete', 'bot', '--yes')
  expect(session()).not.toContain('svc_agt_')
})

test('an agent without a saved token is an error with the command that saves one', async () => {
  await ada.must('agent', 'create', 'other', '--quiet')
  const missing = await call('other')
  expect({ code: missing.code, err: missing.err }).toEqual({
    code: 3,
    err: expect.stringContaining('cloakroom token issue other --save'),
  })
  expect((await call('other', '--token', 'x')).code).toBe(2)
  await ada.must('token', 'issue', 'other', '--save')
  expect((await call('other')).err).toContain('domain_blocked')
})
