// tier: all
/** A newcomer's first steps in the console, in a real browser. */

import { expect } from 'bun:test'
import { logInByPassword as logInByClient } from '../../src/client/account/log_in.ts'
import { uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { freshEmail } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { PASSWORD } from './accounts.ts'
import type { Stage } from './browser.ts'
import { elsewhere } from './elsewhere.ts'
import { HOST, openReachableStage } from './reachable.ts'

const { test, beforeAll, afterAll } = requires('chromium', 'curl')

let opened: Awaited<ReturnType<typeof openReachableStage>>
let stage: Stage

beforeAll(async () => {
  opened = await openReachableStage()
  stage = opened.stage
})
afterAll(() => opened.close())

test('a newcomer registers, gets a recovery key, unlocks after a reload, and stores and reveals a secret', async () => {
  const email = freshEmail('ada')
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
  await ada.sees('First steps')

  const { api, workspaces } = await logInByClient(stage.app.controlPlane, email, PASSWORD)
  const workspaceId = workspaces[0]?.id ?? ''
  await api.call(createProject, { body: { name: 'billing', workspace_id: workspaceId } })
  await page.reload()
  await ada.sees('Unlock')
  expect(await page.content()).not.toContain(recoveryKey)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByRole('heading', { name: /Make a project — billing/ }).waitFor()
  await page.getByRole('link', { name: 'Secrets', exact: true }).click()
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

test('a newcomer gets from an empty workspace to the first call with the keyboard and copied commands only', async () => {
  const value = marked('ghp_')
  const { upstream, runShownCall } = opened
  const grace = await stage.person('grace')
  const { page } = grace
  await page.getByRole('link', { name: 'First steps' }).click()
  await grace.sees('First steps')
  const type = async (label: string, text: string) => {
    const field = page.getByLabel(label, { exact: true })
    await field.waitFor()
    expect(await field.evaluate((input) => input === document.activeElement)).toBe(true)
    await page.keyboard.type(text)
  }
  await type('Name of the project', 'billing')
  await page.keyboard.press('Enter')
  await type('Name of the secret', 'GITHUB_TOKEN')
  await page.keyboard.press('Tab')
  await page.keyboard.type(value)
  await page.keyboard.press('Enter')
  await type('Host', '')
  expect(await page.getByLabel('Host').inputValue()).toBe('api.github.com')
  await grace.judge()
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type('not a host')
  await page.keyboard.press('Enter')
  await page.getByText('validation_error').waitFor()
  await page.getByLabel('Host').fill(`${HOST}:${upstream.port}`)
  await page.keyboard.press('Enter')
  await type('Name of the agent', 'deploy-bot')
  await page.keyboard.press('Enter')
  await page.getByText('Waiting for the first call').waitFor()
  await grace.judge()

  await page.getByRole('button', { name: 'Show the token' }).click()
  const token = await page.locator('[data-secret-value]').innerText()
  await page.getByRole('button', { name: 'Hide the token' }).click()
  const refused = await runShownCall(page, `${token}x`)
  expect(refused).toContain('invalid_token')
  await page.getByLabel('Address to call').fill(`https://elsewhere.upstream.example/`)
  expect(await runShownCall(page, token)).toContain('domain_blocked')
  await page.getByText('elsewhere.upstream.example is not on the allowlist').waitFor()
  await page.getByLabel('Address to call').fill(`https://${HOST}:${upstream.port}/user`)
  expect(await runShownCall(page, token)).toContain('"status_code":200')
  await page.getByText('It works').waitFor()
  await grace.judge()
  await grace.picture('first-steps')
  expect(upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${value}`)

  await page.reload()
  await page.getByText('nobody can show it again').waitFor()
  await page.getByRole('button', { name: 'Make another token' }).click()
  await page.getByRole('button', { name: 'Show the token' }).waitFor()
  await grace.judge()
  await grace.close()
})

test('a secret outside the development environment completes its step, too', async () => {
  const lin = await stage.person('lin')
  const { api, workspace } = await elsewhere(stage.app.controlPlane, lin.email)
  const body = { name: 'billing', workspace_id: workspace.id }
  const { id: projectId } = await api.call(createProject, { body })
  const place = { api, workspace, projectId, environment: 'production' }
  await uploadSecrets(place, [{ key: 'STRIPE_KEY', value: marked('sk_'), policy: undefined }], true)
  await lin.page.goto(`${stage.origin}/console/w/${workspace.id}/first-steps`)
  await lin.page.getByRole('heading', { name: /Store a secret — STRIPE_KEY/ }).waitFor()
  await lin.judge()
  await lin.close()
})
