// tier: all
/** The ways into and out of the console: the first account, recovery, staying unlocked, and the end of a session. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { logInByPassword as logInByClient } from '../../src/client/account/log_in.ts'
import { listSessions, revokeSession } from '../../src/features/accounts/contract.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { chooseInAccount, openOwnStage, PASSWORD, type Stage } from './browser.ts'

const { test, beforeAll, afterAll } = requires('chromium')

const OWNER_CODE = 'a-code-of-the-operator'
const OWNER = 'owner@example.com'
const NEXT_PASSWORD = marked('five more unlikely words ')

let stage: Stage
let recoveryKey = ''

beforeAll(async () => {
  stage = await openOwnStage({ OWNER_CODE })
})
afterAll(() => stage.close())

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
/** Opens the details of an error, which have its code. */
async function refusal(page: Page, code: string): Promise<void> {
  const alert = page.getByRole('alert').filter({ has: page.getByText(code, { exact: true }) })
  await alert.getByText('Details').click()
  await alert.getByText(code, { exact: true }).waitFor()
}

const keyOf = (page: Page) => page.locator('[data-recovery-key]').innerText()

async function enter(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
}

test('the first account needs the owner code and a strong password, and gets a recovery kit', async () => {
  const owner = await stage.visitor()
  const { page } = owner
  await page.getByText('This installation is new').waitFor()
  await enter(page, OWNER, 'password1234')
  await page.getByText('commonly used password').waitFor()
  await page.getByLabel('Owner code').fill('no-such-code-at-all')
  await owner.judge()
  await owner.picture('register')
  await press(page, 'Create account')
  await refusal(page, 'weak_password')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await press(page, 'Create account')
  await refusal(page, 'registration_closed')
  await page.getByLabel('Owner code').fill(OWNER_CODE)
  await press(page, 'Create account')
  await owner.sees('Your recovery key', { reveals: true })
  await owner.judge({ reveals: true })
  recoveryKey = await keyOf(page)
  const downloading = page.waitForEvent('download')
  await press(page, 'Download')
  const file = await (await downloading).path()
  expect(await Bun.file(file).text()).toContain(recoveryKey)
  await page.emulateMedia({ media: 'print' })
  expect(await page.getByRole('button', { name: 'Print' }).count()).toBe(0)
  expect(await page.getByText(OWNER).count()).toBe(1)
  await page.emulateMedia({ media: 'screen' })
  await press(page, 'I’ve saved it')
  await owner.sees('Make your first call')
  await chooseInAccount(page, 'Sign out')
  await owner.sees('Sign in')
  await page.getByRole('link', { name: 'Create account' }).click()
  await page.getByLabel('Email').waitFor()
  expect(await page.getByLabel('Owner code').count()).toBe(0)
  await owner.close()
})

test('the recovery key sets a new password once, and the next key is shown', async () => {
  const owner = await stage.visitor('login')
  const { page } = owner
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  await owner.sees('Recover your account')
  await page.getByLabel('Email').fill(OWNER)
  await page.getByLabel('New password').fill(NEXT_PASSWORD)
  await page.getByLabel('Recovery key').fill('0123')
  await press(page, 'Set new password')
  await refusal(page, 'malformed_recovery_key')
  await page.getByLabel('Recovery key').fill(recoveryKey.replaceAll('-', ' ').toUpperCase())
  await press(page, 'Set new password')
  await owner.sees('Your recovery key', { reveals: true })
  expect(await keyOf(page)).not.toBe(recoveryKey)
  await press(page, 'I’ve saved it')
  await owner.sees('Overview')
  await chooseInAccount(page, 'Sign out')
  await owner.sees('Sign in')
  await enter(page, OWNER, PASSWORD)
  await press(page, 'Sign in')
  await page.getByText('Email or password is wrong.').waitFor()
  // Screen readers read the error with the field that has the focus.
  expect(await page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('password')
  await page.getByLabel('Password', { exact: true }).clear()
  await owner.judge()
  await owner.close()
})

test('the console stays unlocked for a chosen time, over a reload, until it is locked', async () => {
  const owner = await stage.visitor('login')
  const { page } = owner
  await page.getByRole('button', { name: /Lock after/ }).click()
  await page.getByRole('option', { name: '8 hours' }).click()
  await page.getByText('Anyone who can use this browser').waitFor()
  await owner.judge()
  await enter(page, OWNER, NEXT_PASSWORD)
  await press(page, 'Sign in')
  await owner.sees('Overview')
  await page.reload()
  await owner.sees('Overview')
  await chooseInAccount(page, 'Lock')
  await owner.sees('Unlock')
  await page.reload()
  await owner.sees('Unlock')
  await owner.judge()
  await owner.close()
})

test.each([
  ['Forgot your password?', 'Recover your account'],
  ['Sign out', 'Sign in'],
])('the locked screen ends the session by "%s"', async (way, heading) => {
  const owner = await stage.visitor('login')
  const { page } = owner
  await enter(page, OWNER, NEXT_PASSWORD)
  await press(page, 'Sign in')
  await owner.sees('Overview')
  await page.reload()
  await owner.sees('Unlock')
  await press(page, way)
  await owner.sees(heading)
  await page.reload()
  await owner.sees(heading)
  await owner.close()
})

test('a session that is ended elsewhere is reported, and nothing of it stays', async () => {
  const bob = await stage.personByScreen('bob')
  const { email } = bob
  const { page } = bob
  const { api } = await logInByClient(stage.app.controlPlane, email, PASSWORD)
  for (const { id, current } of await api.list(listSessions, {})) {
    if (!current) await api.call(revokeSession, { params: { session_id: id } })
  }
  // The page may detect the end before the click, at its next poll.
  const link = page.getByRole('link', { name: 'Agents', exact: true })
  const place = await link.click({ timeout: 5_000 }).then(
    () => 'Agents',
    () => 'Overview',
  )
  await page.getByText('Your session ended').waitFor()
  await bob.sees('Sign in')
  await bob.judge()
  await enter(page, email, PASSWORD)
  await press(page, 'Sign in')
  await bob.sees(place)
  expect(await page.getByText('Your session ended').count()).toBe(0)
  await bob.close()
})

test('an unavailable server is reported, and the same screen comes back with it', async () => {
  const carol = await stage.personByScreen('carol')
  const { page } = carol
  await page
    .context()
    .route('**/api/**', (route) =>
      route.fulfill({ status: 502, contentType: 'text/html', body: '<p>Bad gateway</p>' }),
    )
  await page.reload()
  await carol.sees('Can’t connect to the server')
  await carol.judge()
  await page.context().unroute('**/api/**')
  await press(page, 'Try again')
  await carol.sees('Unlock')
  await carol.close()
})
