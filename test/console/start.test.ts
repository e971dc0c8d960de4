// tier: all
/** The ways into and out of the console: the first account, recovery, staying unlocked, and the end of a session. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { logInByPassword as logInByClient } from '../../src/client/account/log_in.ts'
import { listSessions, revokeSession } from '../../src/features/accounts/contract.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { openOwnStage, PASSWORD, type Stage } from './browser.ts'

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
const keyOf = (page: Page) => page.locator('code').innerText()

async function enter(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
}

test('the first account needs the owner code and a strong password, and gets a recovery kit', async () => {
  const owner = await stage.visitor()
  const { page } = owner
  await page.getByText('This installation is new').waitFor()
  await enter(page, OWNER, 'password1234')
  await page.getByText('It is not strong enough').waitFor()
  await page.getByLabel('Owner code').fill('no-such-code-at-all')
  await owner.judge()
  await owner.picture('register')
  await press(page, 'Make an account')
  await page.getByText('weak_password').waitFor()
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await press(page, 'Make an account')
  await page.getByText('registration_closed').waitFor()
  await page.getByLabel('Owner code').fill(OWNER_CODE)
  await press(page, 'Make an account')
  await owner.sees('Your recovery key', { reveals: true })
  await owner.judge({ reveals: true })
  recoveryKey = await keyOf(page)
  await page.emulateMedia({ media: 'print' })
  expect(await page.getByRole('button', { name: 'Print' }).count()).toBe(0)
  expect(await page.getByText(OWNER).count()).toBe(1)
  await page.emulateMedia({ media: 'screen' })
  await press(page, 'I have kept it')
  await owner.sees('First steps')
  await press(page, 'Log out')
  await owner.sees('Log in')
  await page.getByRole('link', { name: 'I need an account' }).click()
  await page.getByLabel('E-mail address').waitFor()
  expect(await page.getByLabel('Owner code').count()).toBe(0)
  await owner.close()
})

test('the recovery key sets a new password once, and the next key is shown', async () => {
  const owner = await stage.visitor('login')
  const { page } = owner
  await page.getByRole('link', { name: 'I lost my password' }).click()
  await owner.sees('Recover your account')
  await page.getByLabel('E-mail address').fill(OWNER)
  await page.getByLabel('New password').fill(NEXT_PASSWORD)
  await page.getByLabel('Recovery key').fill('0123')
  await press(page, 'Recover your account')
  await page.getByText('malformed_recovery_key').waitFor()
  await page.getByLabel('Recovery key').fill(recoveryKey.replaceAll('-', ' ').toUpperCase())
  await press(page, 'Recover your account')
  await owner.sees('Your recovery key', { reveals: true })
  expect(await keyOf(page)).not.toBe(recoveryKey)
  await press(page, 'I have kept it')
  await owner.sees('Workspaces')
  await press(page, 'Log out')
  await owner.sees('Log in')
  await enter(page, OWNER, PASSWORD)
  await press(page, 'Log in')
  await page.getByText('invalid_credentials').waitFor()
  await page.getByLabel('Password', { exact: true }).clear()
  await owner.judge()
  await owner.close()
})

test('the console stays unlocked for a chosen time, over a reload, until it is locked', async () => {
  const owner = await stage.visitor('login')
  const { page } = owner
  await page.getByRole('button', { name: /Keep the keys open/ }).click()
  await page.getByRole('option', { name: 'For 8 hours' }).click()
  await page.getByText('Lock removes them').waitFor()
  await owner.judge()
  await enter(page, OWNER, NEXT_PASSWORD)
  await press(page, 'Log in')
  await owner.sees('Workspaces')
  await page.reload()
  await owner.sees('Workspaces')
  await press(page, 'Lock')
  await owner.sees('Unlock')
  await page.reload()
  await owner.sees('Unlock')
  await owner.judge()
  await owner.close()
})

test.each([
  ['I lost my password', 'Recover your account'],
  ['Log out', 'Log in'],
])('the locked screen ends the session by "%s"', async (way, heading) => {
  const owner = await stage.visitor('login')
  const { page } = owner
  await enter(page, OWNER, NEXT_PASSWORD)
  await press(page, 'Log in')
  await owner.sees('Workspaces')
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
  await page.getByRole('link', { name: email }).click()
  await page.getByText('Your session has ended').waitFor()
  await bob.sees('Log in')
  await bob.judge()
  await enter(page, email, PASSWORD)
  await press(page, 'Log in')
  await bob.sees('Account')
  expect(await page.getByText('Your session has ended').count()).toBe(0)
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
  await carol.sees('The server does not answer as it should')
  await carol.judge()
  await page.context().unroute('**/api/**')
  await press(page, 'Try again')
  await carol.sees('Unlock')
  await carol.close()
})
