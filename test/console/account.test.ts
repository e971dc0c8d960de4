// tier: all
/** A person's account in a real browser: password, sessions, recovery key, key rotation and deletion. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { logInByPassword as logInByClient } from '../../src/client/account/log_in.ts'
import { registerWithToken } from '../../src/client/actions/issue_token.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { getToken } from '../../src/features/workloads/contract.ts'
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
const sessions = () => page.getByRole('button', { name: /^End the session of/ })

/** Confirms the recovery key that is shown, and returns it. */
async function confirmRecoveryKey(): Promise<string> {
  await ada.sees('Your recovery key', { reveals: true })
  const key = await page.locator('.kit-key').innerText()
  await press('I have kept it')
  await ada.sees('Account')
  return key
}

test('the account lists other sessions, and ends one of them or all', async () => {
  for (let each = 0; each < 3; each += 1) await logInByClient(server(), ada.email, PASSWORD)
  await page.reload()
  await ada.sees('Unlock')
  await label('Password').fill(PASSWORD)
  await press('Unlock')
  await ada.sees('Account')
  await sessions().nth(2).waitFor()
  await ada.judge()
  await ada.picture('account')
  await sessions().first().click()
  await sessions().nth(2).waitFor({ state: 'detached' })
  await press('End all 2 other sessions')
  await sessions().first().waitFor({ state: 'detached' })
  await page.getByText('this one').waitFor()
})

test('a new password is accepted with the current one, and only if it is strong', async () => {
  await press('Change the password')
  await label('Current password').fill('not the password of anybody')
  await label('New password').fill('password1234')
  await page.getByText('It is not strong enough').waitFor()
  await ada.judge()
  await press('Take the new password')
  await page.getByText('weak_password').waitFor()
  await label('New password').fill(NEXT_PASSWORD)
  await press('Take the new password')
  await page.getByText('validation_error').waitFor()
  await label('Current password').fill(PASSWORD)
  await press('Take the new password')
  await page.getByText('The password is changed').waitFor()
  await ada.judge()
  const refused = await logInByClient(server(), ada.email, PASSWORD).catch(({ code }) => code)
  expect(refused).toBe('invalid_credentials')
})

test('a password change that is still running when the keys lock seals the keys and not zeros', async () => {
  const cy = await stage.person('cy', 'account')
  await cy.page.getByRole('button', { name: 'Change the password' }).click()
  await cy.page.getByLabel('Current password').fill(PASSWORD)
  await cy.page.getByLabel('New password').fill(NEXT_PASSWORD)
  const sent = cy.page.waitForRequest((request) => request.url().endsWith('/prelogin/'))
  const answered = cy.page.waitForResponse(/\/change-password\//)
  await cy.page.getByRole('button', { name: 'Take the new password' }).click()
  await sent
  await cy.page.getByRole('button', { name: 'Lock', exact: true }).click()
  await cy.page.getByRole('heading', { name: 'Unlock', level: 1 }).waitFor()
  await answered
  const opened = await logInByClient(server(), cy.email, NEXT_PASSWORD)
  expect(opened.seed?.some((byte) => byte !== 0)).toBe(true)
  await cy.close()
})

test('a new recovery key is created, and shown once', async () => {
  await press('Make a new recovery key')
  await label('Current password').fill(NEXT_PASSWORD)
  await press('Make the recovery key')
  const key = await confirmRecoveryKey()
  expect(await page.content()).not.toContain(key)
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
  await press('Replace my keys')
  await page.getByText('laptop').click()
  await ada.judge()
  await label('Current password').fill(NEXT_PASSWORD)
  await press('Replace the keys')
  await confirmRecoveryKey()
  await page.getByText('Your keys are new').waitFor()
  await page.getByText('Signed again: laptop').waitFor()
  await page.getByText('cloakroom workspace rekey').waitFor()
  await ada.judge()
  const now = await logInByClient(server(), ada.email, NEXT_PASSWORD)
  expect(now.privateKey).not.toEqual(privateKey)
  const token = await stage.app.as(made.text).call(getToken, {})
  expect(token.name).toBe('deploy-bot')
})

test('deleting an account needs its address typed and lists what is lost, and the installation owner cannot leave', async () => {
  await press('Delete my account')
  await label('Current password').fill(NEXT_PASSWORD)
  await page.getByLabel('to confirm').fill(ada.email)
  await press('Delete the account')
  await page.getByText('account_stays').waitFor()
  await press('Cancel')

  const bob = await stage.person('bob', 'account')
  const { email } = bob
  const pressed = (name: string) => bob.page.getByRole('button', { name, exact: true }).click()
  await pressed('Delete my account')
  await bob.page.getByText('the workspace Personal with all its secrets').waitFor()
  await bob.judge()
  await bob.page.getByLabel('Current password').fill(PASSWORD)
  await bob.page.getByLabel('to confirm').fill('someone@example.com')
  await pressed('Delete the account')
  await bob.page.getByText('not_confirmed').waitFor()
  await bob.page.getByLabel('to confirm').fill(email)
  await pressed('Delete the account')
  await bob.sees('Log in')
  const gone = await logInByClient(server(), email, PASSWORD).catch(({ code }) => code)
  expect(gone).toBe('invalid_credentials')
  await bob.close()
})
