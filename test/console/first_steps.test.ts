/** A newcomer's first steps in the console, in a real browser. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { logIn as logInByClient } from '../../src/client/vault.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { marked } from '../support/canary.ts'
import { openStage, PASSWORD, type Stage } from './browser.ts'

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('registers, keeps the recovery key, and after a reload unlocks to set and see a secret', async () => {
  const email = 'ada@example.com'
  const ada = await stage.visitor('register')
  const { page } = ada
  await ada.sees('Make an account')
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Make an account' }).click()
  await ada.sees('Your recovery key', { reveals: true })
  const recoveryKey = await page.locator('code').innerText()
  expect(recoveryKey).toMatch(/^([0-9a-f]{8}-){7}[0-9a-f]{8}$/)
  await page.getByRole('button', { name: 'I have kept it' }).click()
  await ada.sees('Workspaces')

  const { api, workspaces } = await logInByClient(stage.app.controlPlane, email, PASSWORD)
  const workspaceId = workspaces[0]?.id ?? ''
  await api.call(createProject, { body: { name: 'billing', workspace_id: workspaceId } })
  await page.reload()
  await ada.sees('Unlock')
  expect(await page.content()).not.toContain(recoveryKey)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByRole('link', { name: 'Personal' }).click()
  await ada.sees('Secrets')
  await ada.picture('secrets')

  const value = marked('sk_live_')
  await page.getByRole('button', { name: 'Add a secret' }).click()
  await page.getByLabel('Name').fill('STRIPE_KEY')
  const typed = page.getByRole('textbox', { name: /^(New )?value$/i })
  await typed.fill(value)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('STRIPE_KEY is stored in development.').waitFor()
  await page.getByRole('button', { name: 'Show STRIPE_KEY' }).waitFor()
  await ada.judge()
  await page.getByRole('button', { name: 'Show STRIPE_KEY' }).click()
  await page.getByText(value).waitFor()
  await ada.judge({ reveals: true })
  await page.getByRole('button', { name: 'Hide STRIPE_KEY' }).click()
  await page.getByRole('button', { name: 'Copy STRIPE_KEY' }).click()
  await page.getByText('Copied').waitFor()
  // The page may not read the clipboard: a person pastes.
  await typed.press('ControlOrMeta+V')
  expect(await typed.inputValue()).toBe(value)
  await typed.clear()
  await ada.judge()
  await page.getByRole('button', { name: 'Lock' }).click()
  await ada.sees('Unlock')
  await ada.close()
})
