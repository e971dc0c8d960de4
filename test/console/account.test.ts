// tier: all
/** One's own account in a real browser: password, sessions, recovery key, new keys, and its end. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { registerWithToken } from '../../src/client/agents/issuing.ts'
import { logIn as logInByClient } from '../../src/client/vault.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { getToken } from '../../src/features/workloads/contract.ts'
import { marked } from '../support/canary.ts'
import { openStage, PASSWORD, type Stage, type Visitor } from './browser.ts'
import { elsewhere } from './elsewhere.ts'

const EMAIL = 'ada@example.com'
const NEXT_PASSWORD = marked('five more unlikely words ')

let stage: Stage
let ada: Visitor
let page: Page

beforeAll(async () => {
  stage = await openStage()
  ada = await stage.person(EMAIL, 'account')
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

/** The recovery key that is shown; it is kept. */
async function kept(): Promise<string> {
  await ada.sees('Your recovery key', { reveals: true })
  const key = await page.locator('.kit-key').innerText()
  await press('I have kept it')
  await ada.sees('Account')
  return key
}

test('sessions elsewhere are listed, and ended one by one or together', async () => {
  for (let each = 0; each < 3; each += 1) await logInByClient(server(), EMAIL, PASSWORD)
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

test('another password is taken with the one of now, and if it is strong', async () => {
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
  const refused = await logInByClient(server(), EMAIL, PASSWORD).catch(({ code }) => code)
  expect(refused).toBe('invalid_credentials')
})

test('a change that runs when the keys are locked is made of the keys, and not of what was wiped', async () => {
  const cy = await stage.person('cy@example.com', 'account')
  await cy.page.getByRole('button', { name: 'Change the password' }).click()
  await cy.page.getByLabel('Current password').fill(PASSWORD)
  await cy.page.getByLabel('New password').fill(NEXT_PASSWORD)
  const sent = cy.page.waitForRequest((request) => request.url().endsWith('/prelogin/'))
  await cy.page.getByRole('button', { name: 'Take the new password' }).click()
  await sent
  await cy.page.getByRole('button', { name: 'Lock', exact: true }).click()
  await cy.page.getByRole('heading', { name: 'Unlock', level: 1 }).waitFor()
  let opened = await logInByClient(server(), 'cy@example.com', NEXT_PASSWORD).catch(() => null)
  while (opened === null) {
    await Bun.sleep(200)
    opened = await logInByClient(server(), 'cy@example.com', NEXT_PASSWORD).catch(() => null)
  }
  expect(opened.seed?.some((byte) => byte !== 0)).toBe(true)
  await cy.close()
})

test('the recovery key is made anew, and shown once', async () => {
  await press('Make a new recovery key')
  await label('Current password').fill(NEXT_PASSWORD)
  await press('Make the recovery key')
  const key = await kept()
  expect(await page.content()).not.toContain(key)
})

test('new keys take the place of the old, a token that is kept stays, and what is left to do is said', async () => {
  const { api, privateKey } = await logInByClient(server(), EMAIL, NEXT_PASSWORD)
  const { workspace } = await elsewhere(server(), EMAIL, NEXT_PASSWORD)
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
  await kept()
  await page.getByText('Your keys are new').waitFor()
  await page.getByText('Signed anew: laptop').waitFor()
  await page.getByText('cloakroom workspace rekey').waitFor()
  await ada.judge()
  const now = await logInByClient(server(), EMAIL, NEXT_PASSWORD)
  expect(now.privateKey).not.toEqual(privateKey)
  const token = await stage.app.as(made.text).call(getToken, {})
  expect(token.name).toBe('deploy-bot')
})

test('an account is deleted with its address typed, and names what is lost; the owner of the installation stays', async () => {
  await press('Delete my account')
  await label('Current password').fill(NEXT_PASSWORD)
  await page.getByLabel('to confirm').fill(EMAIL)
  await press('Delete the account')
  await page.getByText('account_stays').waitFor()
  await press('Cancel')

  const email = 'bob@example.com'
  const bob = await stage.person(email, 'account')
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
