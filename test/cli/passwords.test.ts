// tier: quick
/** New passwords must be hard to guess; weak passwords from earlier versions still open their accounts. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { signUp } from '../../src/client/account/log_in.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { cheapArgon2id } from '../support/cheap_argon2id.ts'
import { openAccount, openTerminal, PASSWORD, type Terminal } from './person.ts'

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await startTestApp()
  ada = await openAccount(app, 'ada@example.com')
})
afterAll(async () => {
  ada.remove()
  await app.stop()
})

const WEAK: [string, string][] = [
  ['elevenchars', 'it must have at least 12 characters'],
  ['Password1234!', 'This is similar to a commonly used password.'],
  ['aaaaaaaaaaaaaaaa', 'Repeated characters like "aaa" are easy to guess.'],
  ['bob@example.com', 'It is based on your email address.'],
]

async function isRegistered(email: string): Promise<boolean> {
  const rows = await app.connection.sql`select 1 from users where email = ${email}`
  return rows.length > 0
}

describe('an easily guessed password', () => {
  test.each(WEAK)('%s is rejected, with advice, and no request is sent', async (weak, why) => {
    const bob = await openTerminal(app)
    const options = { stdin: `${weak}\n` }
    const refused = await bob.run(['register', 'bob@example.com', '--password-stdin'], options)
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toContain(`this password is too weak: ${why}`)
    expect(refused.err).toContain('\n→ ')
    expect(refused.err).not.toContain(weak)
    expect(await isRegistered('bob@example.com')).toBe(false)
    bob.remove()
  })

  test('an easily guessed password is rejected for a change and a recovery', async () => {
    const change = await ada.run(['password', 'change', '--password-stdin'], {
      stdin: `${PASSWORD}\nPassword1234!\n`,
    })
    expect(change).toMatchObject({ code: 2, err: expect.stringContaining('too weak') })
    const recover = await ada.run(['recover', 'ada@example.com', '--password-stdin'], {
      stdin: 'Password1234!\n',
      env: { SERVICE_RECOVERY_KEY: 'any' },
    })
    expect(recover).toMatchObject({ code: 2, err: expect.stringContaining('too weak') })
    await ada.must('whoami')
  })

  test('an earlier easily guessed password still logs in', async () => {
    await signUp(app.controlPlane, 'old@example.com', 'password', true, undefined, cheapArgon2id)
    const old = await openTerminal(app)
    const options = { stdin: 'password\n' }
    const args = ['login', 'old@example.com', '--password-stdin', '--insecure-storage']
    expect(await old.run(args, options)).toMatchObject({ code: 0 })
    const stronger = { stdin: `password\n${PASSWORD}\n` }
    const change = await old.run(['password', 'change', '--password-stdin'], stronger)
    expect(change).toMatchObject({ code: 0 })
    old.remove()
  })
})

test('an easily guessed passphrase for this machine is rejected when it is chosen', async () => {
  const carol = await openTerminal(app)
  const register = (SERVICE_PASSPHRASE: string) =>
    carol.run(['register', 'carol@example.com', '--password-stdin'], {
      stdin: `${PASSWORD}\n`,
      env: { SERVICE_PASSPHRASE },
    })
  const refused = await register('Password1234!')
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('this passphrase is too') })
  expect(await isRegistered('carol@example.com')).toBe(false)
  expect(await register('seven quiet herons')).toMatchObject({ code: 0 })
  const wrong = await carol.run(['whoami'], { env: { SERVICE_PASSPHRASE: 'short' } })
  expect(wrong).toMatchObject({ code: 3, err: expect.stringContaining('the passphrase is wrong') })
  carol.remove()
})
