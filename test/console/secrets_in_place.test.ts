// tier: all
/** Secrets typed into the cells of the matrix, and the same screen for a member who may only read. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { openStage, type Person, type Stage } from './browser.ts'
import { elsewhere, joined, shared } from './elsewhere.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage
let ada: Person
let page: Page
let path: string
/** Stores a secret from another machine. */
let put: (key: string, environment: string, value: string) => Promise<unknown>

const value = marked('first_')
const long = `${marked('-----BEGIN')}\nline two\nline three`

beforeAll(async () => {
  stage = await openStage()
  const server = stage.app.controlPlane
  ada = await stage.person('ada')
  const id = await shared(server, ada.email, 'Acme')
  const place = await elsewhere(server, ada.email, undefined, 'Acme')
  const { api, workspace } = place
  const body = { name: 'billing', workspace_id: id }
  const { id: projectId } = await api.call(createProject, { body })
  put = (key, environment, text) =>
    uploadSecrets(
      { api, workspace, projectId, environment },
      [{ key, value: text, policy: undefined }],
      true,
    )
  await put('CERTIFICATE', 'development', long)
  await put('STRIPE_KEY', 'development', value)
  path = `w/${id}/secrets`
  page = ada.page
  await page.goto(`${stage.origin}/console/${path}`)
  await ada.sees('Secrets')
})
afterAll(async () => {
  await ada.close()
  await stage.close()
})

const cell = (words: RegExp) => page.getByRole('button', { name: words })
const field = (key: string, environment: string) =>
  page.getByRole('textbox', { name: `New value of ${key} in ${environment}`, exact: true })
const pane = () => page.locator('section.pane')
const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-cell'))

test('a value typed into its cell is stored by Enter or Tab and discarded by Escape', async () => {
  await cell(/^STRIPE_KEY in development/).focus()
  await page.keyboard.press('Enter')
  await field('STRIPE_KEY', 'development').waitFor()
  await page.keyboard.type(marked('given_up_'))
  await ada.judge({ reveals: true })
  await page.keyboard.press('Escape')
  expect(await focused()).toBe('development STRIPE_KEY')
  await cell(/^STRIPE_KEY in development: A v1/).waitFor()

  await page.keyboard.press('F2')
  await page.keyboard.type(marked('typed_'))
  await page.keyboard.press('Tab')
  await field('STRIPE_KEY', 'staging').waitFor()
  await cell(/^STRIPE_KEY in development: . v2/).waitFor()
  await page.keyboard.type(marked('typed_'))
  await page.keyboard.press('Enter')
  await cell(/^STRIPE_KEY in staging: A v1/).waitFor()
  await cell(/^STRIPE_KEY in development: A v2/).waitFor()
  expect(await focused()).toBe('staging STRIPE_KEY')
  await ada.judge()
})

test('a stored value is shown in its field only on request, and a multi-line one in the pane', async () => {
  await cell(/^STRIPE_KEY in development/).dblclick()
  const typed = field('STRIPE_KEY', 'development')
  await typed.waitFor()
  expect(await pane().count()).toBe(0)
  expect(await typed.inputValue()).toBe('')
  await page.keyboard.press('F2')
  await page.locator('.cell-field input:not(.input-hidden)').waitFor()
  expect(await typed.inputValue()).toBe(marked('typed_'))
  await page.keyboard.press('Enter')
  await cell(/^STRIPE_KEY in development: A v2/).waitFor()
  await ada.judge()

  await cell(/^CERTIFICATE in development/).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Show CERTIFICATE in development (F2)' }).click()
  const beside = pane().getByRole('textbox', { name: 'New value' })
  await beside.waitFor()
  expect(await beside.inputValue()).toBe(long)
  await pane().getByRole('button', { name: 'Close' }).click()
  await pane().waitFor({ state: 'detached' })
  await ada.judge()
})

test('a typed value stays in its field after a concurrent write or an unavailable server', async () => {
  await cell(/^STRIPE_KEY is missing in production/).focus()
  await page.keyboard.press('Enter')
  await put('STRIPE_KEY', 'production', marked('elsewhere_'))
  await page.keyboard.type(marked('mine_'))
  await page.keyboard.press('Enter')
  await page.getByText('Somebody else changed this meanwhile.').waitFor()
  const typed = field('STRIPE_KEY', 'production')
  expect(await typed.inputValue()).toBe(marked('mine_'))
  await ada.judge({ reveals: true })
  await typed.press('Enter')
  await cell(/^STRIPE_KEY in production: . v2/).waitFor()
  await page.getByText('STRIPE_KEY is stored in production.').first().waitFor()

  await page.keyboard.press('Enter')
  await page.keyboard.type(marked('away_'))
  await page.context().setOffline(true)
  await page.keyboard.press('Enter')
  await page.getByText('The server is unreachable.').first().waitFor()
  expect(await typed.inputValue()).toBe(marked('away_'))
  await page.context().setOffline(false)
  await typed.press('Enter')
  await cell(/^STRIPE_KEY in production: . v3/).waitFor()
  await ada.judge()
})

test('a read-only member sees everything, the reason, and no command that the server would refuse', async () => {
  const bob = await stage.person('bob')
  await joined(stage.app.controlPlane, 'Acme', ada.email, bob.email, 'read_only')
  await bob.page.goto(`${stage.origin}/console/${path}?pane=new`)
  await bob.sees('Secrets')
  await bob.page.getByText('Your role in this workspace is read-only').waitFor()
  const stripe = bob.page.getByRole('button', { name: /^STRIPE_KEY in development/ })
  await stripe.focus()
  await bob.page.keyboard.press('Enter')
  await bob.page.getByRole('button', { name: 'Show STRIPE_KEY' }).click()
  await bob.page.getByText(marked('typed_')).waitFor()
  await bob.judge({ reveals: true })
  const offered = await bob.page.getByRole('main').getByRole('button').allTextContents()
  expect(offered.filter((name) => /Add|Paste|Save|Delete$|New|Select/.test(name))).toEqual([])
  await bob.page.getByRole('tab', { name: 'Policy' }).click()
  await bob.page.getByText('May be used').waitFor()
  await bob.page.getByRole('tab', { name: 'Versions' }).click()
  await bob.page.getByText('Version 1').waitFor()
  expect(await bob.page.getByRole('button', { name: 'Roll back' }).count()).toBe(0)
  await bob.judge()
  await bob.close()
})
