// tier: all
/** When keys are locked, in all tabs, and what a person sees of it. The test owns the worker's clock. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { listSessions, revokeSession } from '../../src/features/accounts/contract.ts'
import { freshEmail } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { logIn as logInElsewhere, PASSWORD, signUp } from './accounts.ts'
import {
  accountMenu,
  chooseInAccount,
  logIn,
  openStage,
  type Stage,
  type Visitor,
} from './browser.ts'
import { askWorker, controlClock, pass, shift } from './worker_clock.ts'

const { test, beforeAll, afterAll } = requires('chromium')

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let stage: Stage
let email: string
let ada: Visitor
let page: Page
let other: Page

beforeAll(async () => {
  stage = await openStage()
  email = freshEmail('ada')
  await signUp(stage.app.controlPlane, email)
  // A file, so that the console starts once and with the test's clock.
  ada = await stage.visitor('SHA256SUMS')
  page = ada.page
  await controlClock(page)
  await page.goto(`${stage.origin}/console/login`)
  await logIn(page, email)
})
afterAll(async () => {
  await ada.close()
  await stage.close()
})

const press = (name: string, on = page) => on.getByRole('button', { name, exact: true }).click()
const isLocked = (on: Page) => on.getByRole('heading', { name: 'Unlock', level: 1 }).waitFor()
const isOpen = (on: Page) => accountMenu(on).waitFor()

async function unlock(on: Page): Promise<void> {
  await on.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await press('Unlock', on)
  await isOpen(on)
}

/** Starts a new worker with the machine's clock. */
async function restartWorker(): Promise<void> {
  await page.reload()
  await ada.sees('Unlock')
}

async function stay(name: string): Promise<void> {
  await page.getByRole('button', { name: /Lock after/ }).click()
  await page.getByRole('option', { name }).click()
}

test('the console warns before 15 idle minutes end, locks all tabs, hides values, and gives the reason', async () => {
  const value = marked('sk_live_')
  await page.getByRole('link', { name: 'Secrets', exact: true }).click()
  await press('Create project')
  await page.getByRole('textbox', { name: 'Project name' }).fill('web')
  await page.keyboard.press('Enter')
  await page.getByText('No secrets in this project yet.').waitFor()
  await page.keyboard.press('n')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('KEY')
  await page.getByRole('textbox', { name: 'Value in development' }).fill(value)
  await page.getByRole('dialog').getByRole('button', { name: 'Add secret' }).click()
  await page.getByRole('button', { name: /^KEY in development/ }).click()
  other = await page.context().newPage()
  await other.goto(`${stage.origin}/console/account`)
  await unlock(other)

  await pass(page, 14 * MINUTE + 1)
  await page.getByText('Locking in 60 seconds').waitFor()
  await ada.judge()
  await press('Replace value')
  await page.getByRole('textbox', { name: 'New value' }).fill('typed')
  await press('Stay unlocked')
  await page.getByText('Locking in 60 seconds').waitFor({ state: 'detached' })
  expect(await page.getByRole('textbox', { name: 'New value' }).inputValue()).toBe('typed')
  await press('Show KEY')
  await page.getByText(value).waitFor()
  await pass(page, 15 * MINUTE)
  await isLocked(page)
  await isLocked(other)
  await page.getByText('Locked after 15 idle minutes').waitFor()
  await other.getByText('Locked after 15 idle minutes').waitFor()
  expect(await askWorker(page, 'workspaces.list')).toBe('locked')
  expect(await askWorker(other, 'workspaces.list')).toBe('locked')
  await ada.judge()
})

test('activity in one tab keeps the others unlocked', async () => {
  await unlock(other)
  await unlock(page)
  await Promise.all([page, other].map((each) => pass(each, 10 * MINUTE)))
  await askWorker(page, 'accounts.recordActivity')
  expect(await askWorker(page, 'workspaces.list')).toBe('done')
  await Promise.all([page, other].map((each) => pass(each, 10 * MINUTE)))
  await isOpen(page)
  await isOpen(other)
  expect(await askWorker(other, 'workspaces.list')).toBe('done')
})

test('a machine that slept through the 15 minutes wakes up locked', async () => {
  await shift(page, { wall: 10 * HOUR })
  expect(await askWorker(page, 'accounts.recordActivity')).toBe('done')
  await isLocked(page)
  await isLocked(other)
})

test('Lock and Sign out in one tab apply to all tabs', async () => {
  await unlock(page)
  await unlock(other)
  await chooseInAccount(other, 'Lock')
  await isLocked(page)
  await page.getByText('Locked in another tab').waitFor()
  await unlock(page)
  await unlock(other)
  await chooseInAccount(page, 'Sign out')
  await ada.sees('Sign in')
  await other.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
  expect(await askWorker(other, 'workspaces.list')).toBe('locked')
})

test('Lock is in the palette, which shows its shortcut', async () => {
  await logIn(page, email)
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Search' })
  await palette.getByRole('searchbox').fill('lock')
  await palette.getByRole('menuitem', { name: /^Lock/ }).click()
  await ada.sees('Unlock')
  await unlock(page)
  await page.keyboard.press('Control+Shift+L')
  await ada.sees('Unlock')
})

test('the lock time changes without signing in, and survives a reload', async () => {
  await restartWorker()
  await unlock(page)
  await chooseInAccount(page, 'Account')
  await ada.sees('Account')
  await stay('8 hours')
  await page.getByText('Your keys stay unlocked in this browser until').waitFor()
  await ada.judge()
  await page.reload()
  await ada.sees('Account')
  await pass(page, 7 * HOUR)
  await isOpen(page)
  await stay('15 minutes idle')
  await page.getByText('Your keys lock after 15 idle minutes').waitFor()
  await page.reload()
  await ada.sees('Unlock')
})

/** The keys that stay open: what a script of the page finds, and whether it can export them. */
const storedKeys = () =>
  page.evaluate(async () => {
    const done = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve) => {
        request.onsuccess = () => resolve(request.result)
      })
    const database = await done(indexedDB.open('cloakroom'))
    const store = database.transaction('staying').objectStore('staying')
    const rows: { key: CryptoKey }[] = await done(store.getAll())
    const formats = ['raw', 'jwk'] as const
    const taken = rows.flatMap(({ key }) =>
      formats.map((format) =>
        (crypto.subtle.exportKey as (format: string, key: CryptoKey) => Promise<unknown>)(
          format,
          key,
        ).then(
          () => 'exported',
          ({ name }: Error) => name,
        ),
      ),
    )
    database.close()
    return { rows: rows.length, taken: await Promise.all(taken) }
  })

test('a remembered unlock uses a key that no script can export, and ends with Lock and on time even if the clock is set back', async () => {
  await restartWorker()
  await stay('8 hours')
  await unlock(page)
  expect(await storedKeys()).toEqual({
    rows: 1,
    taken: ['InvalidAccessError', 'InvalidAccessError'],
  })
  await chooseInAccount(page, 'Lock')
  await ada.sees('Unlock')
  expect(await storedKeys()).toEqual({ rows: 0, taken: [] })

  await stay('8 hours')
  await unlock(page)
  await shift(page, { wall: -6 * HOUR })
  await shift(page, { running: 8 * HOUR - MINUTE / 2 })
  await page.getByText('Your chosen time ends').waitFor()
  await shift(page, { running: MINUTE })
  await ada.sees('Unlock')
  await page.getByText('Locked at the time you chose').waitFor()
  expect(await storedKeys()).toEqual({ rows: 0, taken: [] })
})

test('a clock that was set back while the console was closed opens nothing', async () => {
  await restartWorker()
  await stay('7 days')
  await unlock(page)
  await shift(page, { wall: HOUR })
  await askWorker(page, 'accounts.recordActivity')
  await restartWorker()
  expect(await storedKeys()).toEqual({ rows: 0, taken: [] })
})

test('a session that ended elsewhere locks an idle page and deletes its keys', async () => {
  await unlock(page)
  expect(await askWorker(page, 'workspaces.list')).toBe('done')
  const { api } = await logInElsewhere(stage.app.controlPlane, email)
  for (const { id, current } of await api.list(listSessions, {})) {
    if (!current) await api.call(revokeSession, { params: { session_id: id } })
  }
  await page.evaluate(() =>
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true })),
  )
  await ada.sees('Sign in')
  await page.getByText('Your session ended').waitFor()
  expect(await askWorker(page, 'workspaces.list')).toBe('locked')
})

test('a sign-out that does not reach the server locks, and reports that the session remains', async () => {
  await logIn(page, email)
  await page.context().route('**/api/auth/logout/', (route) => route.abort())
  await chooseInAccount(page, 'Sign out')
  await ada.sees('Unlock')
  await page.getByText('the server still has your session').waitFor()
  await page.context().unroute('**/api/auth/logout/')
})
