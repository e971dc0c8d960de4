// tier: all
/** A newcomer's way through the console, from registration to the first call. */
import { expect } from 'bun:test'
import { freshEmail } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { PASSWORD } from './accounts.ts'
import { HOST, openReachableStage } from './reachable.ts'

const { test, beforeAll, afterAll } = requires('chromium', 'curl')

let opened: Awaited<ReturnType<typeof openReachableStage>>

beforeAll(async () => {
  opened = await openReachableStage()
})
afterAll(() => opened.close())

test('a newcomer registers, stores a secret, creates an agent, and sees its first call arrive', async () => {
  const { stage, upstream, runShownCall } = opened
  const value = marked('ghp_')
  const ada = await stage.visitor('register')
  const { page } = ada
  const label = (name: string) => page.getByLabel(name, { exact: true })
  await label('E-mail address').fill(freshEmail('ada'))
  await label('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Make an account' }).click()
  await ada.sees('Your recovery key', { reveals: true })
  await page.getByRole('button', { name: 'I have kept it' }).click()
  await ada.sees('First steps')
  await label('Name of the project').fill('billing')
  await page.keyboard.press('Enter')
  await label('Name of the secret').fill('GITHUB_TOKEN')
  await page.keyboard.press('Tab')
  await page.keyboard.type(value)
  await page.keyboard.press('Enter')
  await label('Host').fill(`${HOST}:${upstream.port}`)
  await page.keyboard.press('Enter')
  await label('Name of the agent').fill('deploy-bot')
  await page.keyboard.press('Enter')
  await page.getByText('Waiting for the first call').waitFor()
  await page.getByRole('button', { name: 'Show the token' }).click()
  const token = await page.locator('[data-secret-value]').innerText()
  await page.getByRole('button', { name: 'Hide the token' }).click()
  await label('Address to call').fill(`https://${HOST}:${upstream.port}/user`)
  expect(await runShownCall(page, token)).toContain('"status_code":200')
  await page.getByText('It works').waitFor()
  expect(upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${value}`)
  await ada.close()
})
