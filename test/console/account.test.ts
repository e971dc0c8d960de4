// tier: all
/** A person's account in a real browser: password, sessions, recovery key, key rotation and deletion. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { logInByPassword as logInByClient } from '../../src/client/account/log_in.ts'
import { registerWithToken } from '../../src/client/actions/issue_token.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { getToken } from '../../src/features/workloads/contract.ts'
import { identityFingerprint } from '../../src/sigchain/index.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { openOwnStage, PASSWORD, type Person, type Stage } from './browser.ts'
import { elsewhere } from './elsewhere.ts'

const { test, beforeAll, afterAll } = requires('chromium')

const NEXT_PASSWORD = marked('five more unlikely words ')

let stage: Stage
let ada: Person
let page: Page

beforeAll(async () => {
  // Its first account owns the installation.
  stage = await openOwnStage()
  ada = await stage.personByScreen('ada', 'account')
  page = ada.page
})
afterAll(async () => {
  await ada.close()
  await stage.close()
})

const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
const label = (name: string) => page.getByLabel(name, { exact: true })
const server = () => stage.app.controlPlane
const dialog = (from: Page) => from.locator('[data-dialog]')
/** The button that sends the open dialog. */
const send = (name: string, from = page) =>
  dialog(from).getByRole('button', { name, exact: true }).click()
const closed = (from = page) => dialog(from).waitFor({ state: 'detached' })
const others = () => page.getByRole('button', { name: /^Sign out (?!\d)/ })

/** Confirms the recovery key that is shown, and returns it. */
async function confirmRecoveryKey(): Promise<string> {
  await ada.sees('Your recovery key', { reveals: true })
  const key = await page.locator('[data-recovery-key]').innerText()
  await press('I’ve saved it')
  await ada.sees('Account')
  return key
}

test('the account lists other sessions, and signs out one of them or all without moving a row', async () => {
  for (let each = 0; each < 3; each += 1) await logInByClient(server(), ada.email, PASSWORD)
  await page.reload()
  await ada.sees('Unlock')
  await label('Password').fill(PASSWORD)
  await press('Unlock')
  await ada.sees('Account')
  await others().nth(2).waitFor()
  await page.getByText('This session').waitFor()
  await ada.judge()
  await ada.picture('account')
  const rows = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem')
  const second = () => rows.nth(2).boundingBox()
  const before = await second()
  await others().first().click()
  await others().nth(2).waitFor({ state: 'detached' })
  await page.getByText('Signed out', { exact: true }).waitFor()
  expect(await second()).toEqual(before)
  await press('Sign out 2 other sessions')
  await others().first().waitFor({ state: 'detached' })
  await page.getByText('Signed out', { exact: true }).nth(2).waitFor()
  expect(await rows.count()).toBe(4)
  await page.reload()
  await ada.sees('Unlock')
  await label('Password').fill(PASSWORD)
  await press('Unlock')
  await page.getByText('This session').waitFor()
  expect(await rows.count()).toBe(1)
})

test('the account shows the fingerprint that others compare before an invitation', async () => {
  const { reader } = await elsewhere(server(), ada.email)
  const shown = await page.locator('[data-fingerprint]').innerText()
  expect(shown).toBe(await identityFingerprint(await reader.identity()))
})

test('a new password is accepted with the current one, and only if it is strong', async () => {
  await press('Change password')
  await label('Current password').fill('not the password of anybody')
  await label('New password').fill('password1234')
  await dialog(page).locator('[data-field-error]').waitFor()
  await ada.judge()
  const sent = page.waitForRequest(/\/change-password\//)
  await send('Change password')
  await label('New password').fill(NEXT_PASSWORD)
  await dialog(page).locator('[data-field-error]').waitFor({ state: 'detached' })
  await send('Change password')
  await sent
  await page.getByText('Wrong password.').waitFor()
  await ada.judge({ reveals: true })
  await label('Current password').fill(PASSWORD)
  await send('Change password')
  await page.getByText('Password changed.').waitFor()
  await closed()
  await ada.judge()
  const refused = await logInByClient(server(), ada.email, PASSWORD).catch(({ code }) => code)
  expect(refused).toBe('invalid_credentials')
})

test('a password change that is still running when the keys lock seals the keys and not zeros', async () => {
  const cy = await stage.person('cy', 'account')
  await cy.page.getByRole('button', { name: 'Change password' }).click()
  await cy.page.getByLabel('Current password').fill(PASSWORD)
  await cy.page.getByLabel('New password').fill(NEXT_PASSWORD)
  const sent = cy.page.waitForRequest((request) => request.url().endsWith('/prelogin/'))
  const answered = cy.page.waitForResponse(/\/change-password\//)
  await send('Change password', cy.page)
  await sent
  await cy.page.keyboard.press('Control+Shift+L')
  await cy.page.getByRole('heading', { name: 'Unlock', level: 1 }).waitFor()
  await answered
  const opened = await logInByClient(server(), cy.email, NEXT_PASSWORD)
  expect(opened.seed?.some((byte) => byte !== 0)).toBe(true)
  await cy.close()
})

test('a new recovery key is created, and shown once', async () => {
  await press('Create recovery key')
  await label('Current password').fill(NEXT_PASSWORD)
  await send('Create recovery key')
  const key = await confirmRecoveryKey()
  expect(await page.content()).not.toContain(key)
})

test('keys stay unlocked for the chosen time', async () => {
  await page.getByText('Your keys lock after 15 idle minutes.').waitFor()
  await page.getByRole('button', { name: /Lock after$/ }).click()
  await page.getByRole('option', { name: '8 hours' }).click()
  await page.getByText(/^Your keys stay unlocked in this browser until/).waitFor()
  await ada.judge()
  await page.getByRole('button', { name: /Lock after$/ }).click()
  await page.getByRole('option', { name: '15 minutes idle' }).click()
  await page.getByText('Your keys lock after 15 idle minutes.').waitFor()
})

test('new keys replace the old ones, a kept token still works, and the screen lists what is left to do', async () => {
  const { api, privateKey } = await logInByClient(server(), ada.email, NEXT_PASSWORD)
  const { workspace } = await elsewhere(server(), ada.email, NEXT_PASSWORD)
  const { id: projectId } = await api.call(createProject, {
    body: { name: 'billing', workspace_id: workspace.id },
  })
  const made = await registerWithToken(
    { api, workspace },
    { name: 'deploy-bot', projectId },
    { environment: null, order: { label: 'laptop' }, places: [] },
  )
  const fingerprint = page.locator('[data-fingerprint]')
  const before = await fingerprint.innerText()
  await press('Replace keys')
  await page.getByText('laptop').click()
  await ada.judge()
  await label('Current password').fill(NEXT_PASSWORD)
  await send('Replace keys')
  await confirmRecoveryKey()
  await page.getByText('Your keys are replaced.').waitFor()
  await page.getByText('Kept: laptop').waitFor()
  await page.getByText('cloakroom workspace rekey').waitFor()
  expect(await fingerprint.innerText()).not.toBe(before)
  await ada.judge()
  const now = await logInByClient(server(), ada.email, NEXT_PASSWORD)
  expect(now.privateKey).not.toEqual(privateKey)
  const token = await stage.app.as(made.text).call(getToken, {})
  expect(token.name).toBe('deploy-bot')
})

test('deleting an account needs its email typed and lists what is lost, and the installation owner cannot leave', async () => {
  await press('Delete account')
  await label('Current password').fill(NEXT_PASSWORD)
  await page.getByLabel('to confirm').fill(ada.email)
  await send('Delete account')
  await page.getByText('You own this installation').waitFor()
  await ada.judge({ reveals: true })
  await send('Cancel')
  await closed()

  const bob = await stage.person('bob', 'account')
  const { email } = bob
  await bob.page.getByRole('button', { name: 'Delete account' }).click()
  await bob.page.getByText('the workspace Personal with all its secrets').waitFor()
  await bob.judge()
  await bob.page.getByLabel('Current password').fill(PASSWORD)
  await bob.page.getByLabel('to confirm').fill('someone@example.com')
  await send('Delete account', bob.page)
  await bob.page.getByText('This isn’t your email.').waitFor()
  await bob.judge({ reveals: true })
  await bob.page.getByLabel('to confirm').fill(email)
  await send('Delete account', bob.page)
  await bob.sees('Sign in')
  const gone = await logInByClient(server(), email, PASSWORD).catch(({ code }) => code)
  expect(gone).toBe('invalid_credentials')
  await bob.close()
})
