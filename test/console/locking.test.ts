// tier: all
/** When keys are locked, in all tabs, and what is seen of it: the clock of the worker is the test's. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { logIn as logInByClient, signUp } from '../../src/client/vault.ts'
import { listSessions, revokeSession } from '../../src/features/accounts/contract.ts'
import { marked } from '../support/canary.ts'
import { logIn, openStage, PASSWORD, type Stage, type Visitor } from './browser.ts'
import { askWorker, controlClock, pass, shift } from './worker_clock.ts'

const EMAIL = 'ada@example.com'
const MINUTE = 60_000
const HOUR = 60 * MINUTE

let stage: Stage
let ada: Visitor
let page: Page
let other: Page

beforeAll(async () => {
  stage = await openStage()
  await signUp(stage.app.controlPlane, EMAIL, PASSWORD)
  ada = await stage.visitor('login')
  page = ada.page
  await controlClock(page)
  await page.reload()
  await logIn(page, EMAIL)
})
afterAll(async () => {
  await ada.close()
  await stage.close()
})

const press = (name: string, on = page) => on.getByRole('button', { name, exact: true }).click()
const isLocked = (on: Page) => on.getByRole('heading', { name: 'Unlock', level: 1 }).waitFor()
const isOpen = (on: Page) => on.getByRole('button', { name: 'Lock', exact: true }).waitFor()

async function unlock(on: Page): Promise<void> {
  await on.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await press('Unlock', on)
  await isOpen(on)
}

/** A worker whose clock is the machine's again. */
async function begunAnew(): Promise<void> {
  await page.reload()
  await ada.sees('Unlock')
}

async function stay(name: string): Promise<void> {
  await page.getByRole('button', { name: /Keep the keys open/ }).click()
  await page.getByRole('option', { name }).click()
}

test('after 15 minutes without use it warns, locks all tabs at once, hides what is shown, and says why', async () => {
  const value = marked('sk_live_')
  await page.getByRole('link', { name: 'Personal' }).click()
  await page.getByLabel('Name of the project').fill('web')
  await page.keyboard.press('Enter')
  await press('Add a secret')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('KEY')
  await page.getByRole('textbox', { name: 'Value', exact: true }).fill(value)
  await press('Save')
  await page.getByRole('button', { name: /^KEY in development/ }).click()
  other = await page.context().newPage()
  await other.goto(`${stage.origin}/console/account`)
  await unlock(other)

  await pass(page, 14 * MINUTE + 1)
  await page.getByText('In a minute your keys are locked').waitFor()
  await ada.judge()
  await page.getByRole('textbox', { name: 'New value' }).fill('typed')
  await press('Keep them open while I work')
  await page.getByText('In a minute your keys are locked').waitFor({ state: 'detached' })
  expect(await page.getByRole('textbox', { name: 'New value' }).inputValue()).toBe('typed')
  await press('Show KEY')
  await page.getByText(value).waitFor()
  await pass(page, 15 * MINUTE)
  await isLocked(page)
  await isLocked(other)
  await page.getByText('Locked after 15 minutes without use').waitFor()
  await other.getByText('Locked after 15 minutes without use').waitFor()
  expect(await askWorker(page, 'workspaces.list')).toBe('locked')
  expect(await askWorker(other, 'workspaces.list')).toBe('locked')
  await ada.judge()
})

test('work in one tab keeps the others open', async () => {
  await unlock(other)
  await unlock(page)
  await Promise.all([page, other].map((each) => pass(each, 10 * MINUTE)))
  await askWorker(page, 'accounts.stir')
  expect(await askWorker(page, 'workspaces.list')).toBe('done')
  await Promise.all([page, other].map((each) => pass(each, 10 * MINUTE)))
  await isOpen(page)
  await isOpen(other)
  expect(await askWorker(other, 'workspaces.list')).toBe('done')
})

test('a machine that slept through the 15 minutes wakes up locked, whatever is pressed first', async () => {
  await shift(page, { wall: 10 * HOUR })
  expect(await askWorker(page, 'accounts.stir')).toBe('done')
  await isLocked(page)
  await isLocked(other)
})

test('Lock and log out in one tab are those of all', async () => {
  await unlock(page)
  await unlock(other)
  await press('Lock', other)
  await isLocked(page)
  await page.getByText('Locked in another tab').waitFor()
  await unlock(page)
  await unlock(other)
  await press('Log out')
  await ada.sees('Log in')
  await other.getByRole('heading', { name: 'Log in', level: 1 }).waitFor()
  expect(await askWorker(other, 'workspaces.list')).toBe('locked')
})

test('Lock is in the palette, and has keys of its own that the palette names', async () => {
  await logIn(page, EMAIL)
  await page.keyboard.press('Control+k')
  await page.getByRole('menuitem', { name: 'Lock (Ctrl+Shift+L)' }).click()
  await ada.sees('Unlock')
  await unlock(page)
  await page.keyboard.press('Control+Shift+L')
  await ada.sees('Unlock')
})

test('how long keys stay open is changed without a log-in, and lasts over a reload', async () => {
  await begunAnew()
  await unlock(page)
  await page.getByRole('link', { name: EMAIL }).click()
  await ada.sees('Account')
  await stay('For 8 hours')
  await page.getByText('Your keys stay open in this browser until').waitFor()
  await ada.judge()
  await page.reload()
  await ada.sees('Account')
  await pass(page, 7 * HOUR)
  await isOpen(page)
  await stay('Until nobody works')
  await page.getByText('Your keys are open until you press Lock').waitFor()
  await page.reload()
  await ada.sees('Unlock')
})

/** Of who stays unlocked: what a script of the page finds, and gets out of the browser. */
const stayed = () =>
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

test('what stays unlocked is under a key that nobody exports, ends with Lock, and at its time by a clock that is put back', async () => {
  await begunAnew()
  await stay('For 8 hours')
  await unlock(page)
  expect(await stayed()).toEqual({ rows: 1, taken: ['InvalidAccessError', 'InvalidAccessError'] })
  await press('Lock')
  await ada.sees('Unlock')
  expect(await stayed()).toEqual({ rows: 0, taken: [] })

  await stay('For 8 hours')
  await unlock(page)
  await shift(page, { wall: -6 * HOUR })
  await shift(page, { running: 8 * HOUR - MINUTE / 2 })
  await page.getByText('the time that you chose is over').waitFor()
  await shift(page, { running: MINUTE })
  await ada.sees('Unlock')
  await page.getByText('the time for which you kept the keys open is over').waitFor()
  expect(await stayed()).toEqual({ rows: 0, taken: [] })
})

test('a clock that was put back while the console was closed opens nothing', async () => {
  await begunAnew()
  await stay('For 7 days')
  await unlock(page)
  await shift(page, { wall: HOUR })
  await askWorker(page, 'accounts.stir')
  await begunAnew()
  expect(await stayed()).toEqual({ rows: 0, taken: [] })
})

test('a session that was ended elsewhere locks a page that nobody touches, and its keys are gone', async () => {
  await unlock(page)
  expect(await askWorker(page, 'workspaces.list')).toBe('done')
  const { api } = await logInByClient(stage.app.controlPlane, EMAIL, PASSWORD)
  for (const { id, current } of await api.list(listSessions, {})) {
    if (!current) await api.call(revokeSession, { params: { session_id: id } })
  }
  await page.evaluate(() =>
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true })),
  )
  await ada.sees('Log in')
  await page.getByText('Your session has ended').waitFor()
  expect(await askWorker(page, 'workspaces.list')).toBe('locked')
})

test('a log-out that the server does not hear of locks, and says what was not done', async () => {
  await logIn(page, EMAIL)
  await page.context().route('**/api/auth/logout/', (route) => route.abort())
  await press('Log out')
  await ada.sees('Unlock')
  await page.getByText('the server could not be told').waitFor()
  await page.context().unroute('**/api/auth/logout/')
})
