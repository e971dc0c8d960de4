// tier: all
/** Passkeys in a real browser, with a virtual authenticator, with and without a PRF. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { requires } from '../support/requires.ts'
import { PASSWORD } from './accounts.ts'
import { attachAuthenticator } from './authenticators.ts'
import { chooseInAccount, openOwnStage, openStage, type Stage, type Visitor } from './browser.ts'
import { askWorker } from './worker_clock.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage

beforeAll(async () => {
  stage = await openOwnStage((origin) => ({ PASSKEY_ORIGINS: origin }))
})
afterAll(() => stage.close())

type Seen = { buffer: ArrayBuffer; copy: string }

/** Records the authenticator's outputs, each with a copy from before the page used it. */
async function watchOutputs(page: Page) {
  const sent: Buffer[] = []
  page.context().on('request', (request) => sent.push(request.postDataBuffer() ?? Buffer.alloc(0)))
  await page.addInitScript(() => {
    const seen: Seen[] = []
    Reflect.set(globalThis, 'seenOutputs', seen)
    const { prototype } = PublicKeyCredential
    const original = prototype.getClientExtensionResults
    prototype.getClientExtensionResults = function () {
      const results = original.call(this)
      const buffer = results.prf?.results?.first
      if (buffer instanceof ArrayBuffer) {
        seen.push({ buffer, copy: String.fromCharCode(...new Uint8Array(buffer)) })
      }
      return results
    }
  })
  await page.reload()
  return async () => {
    const seen = await page.evaluate(() =>
      (Reflect.get(globalThis, 'seenOutputs') as Seen[]).map(({ buffer, copy }) => ({
        left: [...new Uint8Array(buffer)],
        copy: btoa(copy),
      })),
    )
    const bytes = seen.map(({ copy }) => Buffer.from(copy, 'base64'))
    const forms = bytes.flatMap((each) => [
      ...(['hex', 'base64', 'base64url', 'latin1'] as const).map((form) => each.toString(form)),
      each.join(),
    ])
    const all = Buffer.concat(sent).toString('latin1')
    return { seen, leaked: forms.filter((form) => all.includes(form)) }
  }
}

const dialog = (page: Page) => page.locator('[data-dialog]')

/** Opens the account's dialog, and sends it. */
async function addPasskey(page: Page, label: string): Promise<void> {
  await press(page, 'Add passkey')
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByLabel('Name', { exact: true }).fill(label)
  await send(page, 'Add passkey')
  await page.getByRole('list', { name: 'Passkeys' }).getByText(label, { exact: true }).waitFor()
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

async function send(page: Page, name: string): Promise<void> {
  await dialog(page).getByRole('button', { name, exact: true }).click()
  await dialog(page).waitFor({ state: 'detached' })
}

async function choose(page: Page, label: string, choice: string): Promise<void> {
  await press(page, `Actions for ${label}`)
  await page.getByRole('menuitem', { name: choice }).click()
}

async function logOut({ page, sees }: Visitor): Promise<void> {
  await chooseInAccount(page, 'Sign out')
  await sees('Sign in')
}

test('a passkey with a PRF is added, signs in and unlocks without the password, and is renamed and removed', async () => {
  const ada = await stage.personByScreen('ada', 'account')
  const { page } = ada
  const device = await attachAuthenticator(ada, true)
  const outputs = await watchOutputs(page)
  await ada.sees('Unlock')
  await page.getByLabel('Password').fill(PASSWORD)
  await press(page, 'Unlock')
  await ada.sees('Account')
  await page.getByText('No passkeys yet.').waitFor()
  await addPasskey(page, 'Laptop')
  await page.getByText('Signs in and unlocks').waitFor()
  await ada.judge()

  await chooseInAccount(page, 'Lock')
  await ada.sees('Unlock')
  await ada.judge()
  await press(page, 'Unlock with a passkey')
  await ada.sees('Account')

  await logOut(ada)
  await press(page, 'Sign in with a passkey')
  await ada.sees('Account')
  await page.getByText(/^Added .*last used just now/).waitFor()
  const { seen, leaked } = await outputs()
  expect(new Set(seen.map(({ copy }) => copy)).size).toBe(1)
  expect(seen.length).toBeGreaterThanOrEqual(3)
  expect(seen.map(({ left }) => Math.max(...left))).toEqual(seen.map(() => 0))
  expect(leaked).toEqual([])

  // A page that opens locked asks for the passkey without a press.
  await page.reload()
  await ada.sees('Account')

  // Like after a replacement of the account's keys.
  await stage.app.connection.sql`update passkeys set encrypted_seed = null`
  await chooseInAccount(page, 'Lock')
  await ada.sees('Unlock')
  expect(await page.getByRole('button', { name: 'Unlock with a passkey' }).count()).toBe(0)
  await page.getByLabel('Password').fill(PASSWORD)
  await press(page, 'Unlock')
  await choose(page, 'Laptop', 'Let it unlock…')
  await page.getByLabel('Current password').waitFor()
  await ada.judge()
  await page.getByLabel('Current password').fill(PASSWORD)
  await send(page, 'Let it unlock')
  await page.getByText('Signs in and unlocks').waitFor()

  await choose(page, 'Laptop', 'Rename…')
  await page.getByLabel('Name', { exact: true }).fill('Phone')
  await send(page, 'Rename')
  await page.getByText('Phone', { exact: true }).waitFor()
  await choose(page, 'Phone', 'Remove…')
  await page.getByText('Remove Phone?').waitFor()
  await ada.judge()
  await send(page, 'Remove passkey')
  await page.getByText('No passkeys yet.').waitFor()
  await logOut(ada)
  await press(page, 'Sign in with a passkey')
  await page.getByText('No account here uses this passkey.').waitFor()
  await device.forget()
  await press(page, 'Sign in with a passkey')
  await page.getByText('No passkey was used.').waitFor()
  await ada.judge()
  await ada.close()
})

test('a passkey without a PRF signs in, and the password unlocks', async () => {
  const bob = await stage.person('bob', 'account')
  const { page } = bob
  await attachAuthenticator(bob, false)
  await bob.sees('Account')
  await addPasskey(page, 'Key')
  await page.getByText('Signs in only').waitFor()
  await logOut(bob)
  await press(page, 'Sign in with a passkey')
  await bob.sees('Unlock')
  await page.getByLabel('Password').fill(PASSWORD)
  await press(page, 'Unlock')
  await bob.sees('Account')
  await bob.close()
})

/** Changes the user in the server's answer to a sign-in by passkey. */
async function forgeUser(page: Page, user: object): Promise<void> {
  await page.route('**/api/auth/console/login/passkey/', async (route) => {
    const response = await route.fetch()
    const { data, ...rest } = await response.json()
    await route.fulfill({
      response,
      json: { ...rest, data: { ...data, user: { ...data.user, ...user } } },
    })
  })
}

test('a server that names another person at a sign-in by passkey opens nothing under their address', async () => {
  const eve = await stage.person('eve', 'account')
  const { page } = eve
  const mallory = await stage.person('mallory')
  await mallory.close()
  await attachAuthenticator(eve, true)
  await eve.sees('Account')
  await addPasskey(page, 'Laptop')
  await page.getByText('Signs in and unlocks').waitFor()
  await logOut(eve)
  for (const user of [{ email: mallory.email }, { id: crypto.randomUUID() }]) {
    await forgeUser(page, user)
    const answered = page.waitForResponse('**/api/auth/console/login/passkey/')
    await press(page, 'Sign in with a passkey')
    await answered
    await page.locator('[data-pending]').waitFor({ state: 'detached' })
    await page.getByText('The server answered for another account.').waitFor()
    expect(await askWorker(page, 'workspaces.list')).toBe('locked')
    await page.unroute('**/api/auth/console/login/passkey/')
  }
  await press(page, 'Sign in with a passkey')
  await eve.sees('Account')
  await eve.close()
})

test('a server without passkeys offers none, neither on the sign-in screen nor in the account', async () => {
  const elsewhere = await openStage()
  try {
    const dan = await elsewhere.person('dan', 'account')
    await dan.page.getByText('Passkeys aren’t available at this address.').waitFor()
    expect(await dan.page.getByRole('button', { name: 'Add passkey' }).count()).toBe(0)
    await logOut(dan)
    await dan.page.waitForLoadState('networkidle')
    expect(await dan.page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0)
    await dan.close()
  } finally {
    await elsewhere.close()
  }
})

test('a passkey that is removed ends the session that it opened, on the page too', async () => {
  const finn = await stage.person('finn', 'account')
  const { page } = finn
  await attachAuthenticator(finn, true)
  await finn.sees('Account')
  await addPasskey(page, 'Laptop')
  await logOut(finn)
  await press(page, 'Sign in with a passkey')
  await finn.sees('Account')
  await choose(page, 'Laptop', 'Remove…')
  await page.getByText('Sessions it opened end').waitFor()
  await dialog(page).getByRole('button', { name: 'Remove passkey' }).click()
  await finn.sees('Sign in')
  await finn.close()
})
