// tier: all
/** A person connects a secret through a provider in a real browser, with a fake provider on loopback. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { openProviderFetch } from '../../src/client/connect/provider_fetch.ts'
import { type LocalConsole, openLocalConsole } from '../../src/console/local.ts'
import { freshEmail } from '../support/app.ts'
import { loopbackFetch } from '../support/oauth/browser.ts'
import { type FakeProvider, startProvider } from '../support/oauth/provider.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import { signUp } from './accounts.ts'
import { type Account, logIn, openStage, PASSWORD, type Stage, type Visitor } from './browser.ts'

const { test, beforeAll, afterAll, afterEach } = requires('chromium')

/** Registered at the provider, as for any port. */
const REDIRECT = 'http://127.0.0.1:28979/callback'

let stage: Stage
let provider: FakeProvider
let local: LocalConsole
let account: Account & { workspaceId: string }
/** The console of the person's machine. */
let ada: Visitor
let page: Page
/** Address of the project's secrets below /console/. */
let place: string

beforeAll(async () => {
  stage = await openStage()
  provider = await startProvider()
  const send = openProviderFetch(loopbackFetch(provider.certificate) as never)
  local = await openLocalConsole(stage.app.controlPlane, 0, send)
  const email = freshEmail('connects')
  account = { email, ...(await signUp(stage.app.controlPlane, email)) }
  const tabs = new RegExp(`^(${provider.url}|http://127\\.0\\.0\\.1:)`)
  ada = await stage.visitor('', new URL(local.url).origin, tabs)
  page = ada.page
})
afterEach(() => provider.clearFaults())
afterAll(async () => {
  await ada.close()
  await local.close()
  await stage.close()
  await provider.stop()
})

const on = (shown: Page) => {
  const sheet = () => shown.getByRole('dialog')
  return {
    sheet,
    inSheet: (name: string) => sheet().getByRole('button', { name, exact: true }),
    button: (name: string) => shown.getByRole('button', { name, exact: true }),
    cell: (words: RegExp) => shown.getByRole('button', { name: words }),
    /** Fills the sheet of a new secret for a provider that has its metadata at its issuer URL. */
    fill: async (name: string) => {
      const field = (label: string) => sheet().getByLabel(label, { exact: true })
      await shown.keyboard.press('n')
      await sheet().getByText('Connect a provider').click()
      await field('Name').fill(name)
      await sheet()
        .getByRole('button', { name: /Provider$/ })
        .click()
      await shown.getByRole('option', { name: 'Other OAuth provider' }).click()
      await field('Issuer URL').fill(provider.url)
      await field('Client ID').fill(provider.otherClients.none)
      await field('Redirect address').fill(REDIRECT)
      await field('Scopes').fill('openid offline_access api')
      await field('Hosts that may use it').fill('https://api.example.com/v1')
      await shown.keyboard.press('Enter')
    },
  }
}

/** The person opens the provider's page in a second tab, where it asks for their approval. */
async function visitProvider(said: string) {
  const opened = page.context().waitForEvent('page')
  await on(page).sheet().getByRole('link', { name: 'Open the provider' }).click()
  const tab = await opened
  await tab.getByText(said).waitFor()
  await tab.close()
}

async function connect(name: string) {
  await on(page).fill(name)
  await on(page).inSheet('Connect').click()
  await visitProvider('Connected. You can close this page.')
  await on(page).sheet().waitFor({ state: 'detached' })
}

/** The report of a resolver whose provider answers `invalid_grant`. */
async function refuseRenewal(key: string) {
  const projectId = /([0-9a-f-]{36})(?!.*[0-9a-f-]{36})/.exec(place)?.[1] ?? ''
  await stage.app.connection.sql`insert into derived_states
    (workspace_id, project_id, environment, key, generation, failed_at, failed_code, is_final)
    values (${account.workspaceId}, ${projectId}, 'development', ${key}, 1, now(), 'invalid_grant', true)`
}

const said = (text: string) => page.locator('[data-toast]').getByText(text).first().waitFor()

test('a secret is connected in a second tab and appears in the grid', async () => {
  await logIn(page, account.email)
  await page.getByRole('link', { name: 'Secrets', exact: true }).click()
  await on(page).button('Create project').click()
  await page.getByRole('textbox', { name: 'Project name' }).fill('payments')
  await page.keyboard.press('Enter')
  await page.getByText('No secrets in this project yet.').waitFor()
  place = page.url().slice(page.url().indexOf('/console/') + 9)

  await on(page).fill('DRIVE')
  await on(page).sheet().getByText('api.example.com', { exact: true }).waitFor()
  await ada.judge()
  await on(page).inSheet('Connect').click()
  await on(page).sheet().getByText('Waiting for your approval…').first().waitFor()
  await ada.judge()
  await visitProvider('Connected. You can close this page.')
  await said('DRIVE connected.')
  await on(page).sheet().waitFor({ state: 'detached' })
  await on(page)
    .cell(/^DRIVE in development: renews\s*v1/)
    .waitFor()
  await on(page)
    .cell(/^DRIVE in production: Missing/)
    .waitFor()
  expect(provider.requests.map(({ status }) => status)).toEqual([200])
  await ada.judge()
})

test('the sheet explains a denial at the provider, stores nothing and keeps what was typed', async () => {
  provider.setFault({ denies: true })
  await on(page).fill('DENIED')
  await on(page).inSheet('Connect').click()
  await visitProvider('Not connected.')
  const alert = on(page).sheet().getByRole('alert')
  await alert.getByText('Access was denied at the provider.').waitFor()
  const edge = await alert.evaluate((element) => element.getBoundingClientRect().bottom)
  expect(edge).toBeLessThan(page.viewportSize()?.height ?? 0)
  await alert.getByText('Nothing was stored. Connect again and approve the request.').waitFor()
  await ada.judge()
  expect(await on(page).sheet().getByLabel('Client ID').inputValue()).toBe('public-client')
  expect(
    await on(page)
      .cell(/^DENIED/)
      .count(),
  ).toBe(0)

  provider.clearFaults()
  await on(page).inSheet('Connect').click()
  await visitProvider('Connected. You can close this page.')
  await on(page)
    .cell(/^DENIED in development: renews/)
    .waitFor()
})

test('closing the sheet cancels the connection and frees its redirect address', async () => {
  await on(page).fill('CLOSED')
  await on(page).inSheet('Connect').click()
  await on(page).sheet().getByRole('link', { name: 'Open the provider' }).waitFor()
  await page.keyboard.press('Escape')
  await on(page).sheet().waitFor({ state: 'detached' })
  await until(async () => {
    const listener = await Promise.try(() =>
      Bun.serve({ hostname: '127.0.0.1', port: 28979, fetch: () => new Response() }),
    ).catch(() => null)
    await listener?.stop(true)
    return listener !== null
  })
  expect(
    await on(page)
      .cell(/^CLOSED/)
      .count(),
  ).toBe(0)
})

test('a secret whose renewal was refused shows it in cell and inspector until it is reconnected', async () => {
  await refuseRenewal('DRIVE')
  await page.reload()
  await page.getByLabel('Password').fill(PASSWORD)
  await on(page).button('Unlock').click()
  await ada.sees('Secrets')
  const cell = on(page).cell(/^DRIVE in development: Reconnect/)
  await cell.click()
  const inspector = page.getByRole('region', { name: 'DRIVE' })
  await inspector.getByText('Reconnect needed').waitFor()
  await inspector.getByText('The provider refused to renew it.').waitFor()
  await ada.judge()
  await inspector.getByRole('button', { name: 'Reconnect', exact: true }).click()
  await on(page).sheet().getByLabel('Redirect address').fill(REDIRECT)
  await ada.judge()
  await on(page).inSheet('Connect').click()
  await visitProvider('Connected. You can close this page.')
  await said('DRIVE connected.')
  await on(page)
    .cell(/^DRIVE in development: renews\s*v2/)
    .waitFor()
  await inspector.getByText('Not used yet').waitFor()
  expect(await inspector.getByText('Reconnect').count()).toBe(0)
  expect(
    await on(page)
      .cell(/: Reconnect/)
      .count(),
  ).toBe(0)
  await ada.judge()
})

test('a console that a server delivers shows the command and notices when the secret arrives', async () => {
  const server = await stage.enter(account, place)
  const there = on(server.page)
  await there.button('Add secret').waitFor()
  await there.fill('REMOTE')
  await there.inSheet('Show command').click()
  const command = there.sheet().getByText(/^cloakroom connect REMOTE/)
  expect(await command.textContent()).toContain(
    `cloakroom connect REMOTE --issuer ${provider.url} --client-id public-client`,
  )
  await there.sheet().getByText('Waiting for the command…').first().waitFor()
  await server.judge()
  await connect('REMOTE')
  await there.sheet().getByText('REMOTE connected.').waitFor()
  await server.judge()
  await server.page.keyboard.press('Escape')
  await there.cell(/^REMOTE in development: renews/).waitFor()

  await refuseRenewal('REMOTE')
  await server.page.reload()
  await there.cell(/^REMOTE in development: Reconnect/).click()
  const inspector = server.page.getByRole('region', { name: 'REMOTE' })
  await inspector.getByRole('button', { name: 'Reconnect', exact: true }).click()
  // Also by its address alone.
  await server.page.reload()
  const again = await there
    .sheet()
    .getByText(/^cloakroom secrets reconnect REMOTE/)
    .textContent()
  expect(again).toMatch(/ -w \S+ -p payments -e development$/)
  await server.judge()
  await server.close()
})
