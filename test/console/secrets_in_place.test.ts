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
const inspector = (name: string) => page.getByRole('region', { name })
const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-cell'))

test('arrow keys move in the matrix, which is one Tab stop, and Enter opens a cell', async () => {
  await cell(/^CERTIFICATE in development/).focus()
  await page.keyboard.press('ArrowDown')
  expect(await focused()).toBe('development STRIPE_KEY')
  await page.keyboard.press('ArrowRight')
  expect(await focused()).toBe('staging STRIPE_KEY')
  await page.keyboard.press('k')
  expect(await focused()).toBe('staging CERTIFICATE')
  const grid = page.getByRole('grid', { name: 'Secrets by environment' })
  expect(await grid.locator('[tabindex="0"]').count()).toBe(1)
  await page.keyboard.press('Tab')
  expect(await grid.evaluate((each) => each.contains(document.activeElement))).toBe(false)
  await page.keyboard.press('Shift+Tab')
  expect(await focused()).toBe('staging CERTIFICATE')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  await inspector('CERTIFICATE').waitFor()
  await ada.judge()
  await page.keyboard.press('Escape')
  expect(await focused()).toBe('development CERTIFICATE')
})

test('a value typed into its cell is saved by Enter or Tab and discarded by Escape', async () => {
  await cell(/^STRIPE_KEY in development/).focus()
  await page.keyboard.press('e')
  await field('STRIPE_KEY', 'development').waitFor()
  await page.keyboard.type(marked('given_up_'))
  await page.getByText('Enter to save · Tab for next · Esc to cancel').waitFor()
  await ada.judge({ reveals: true })
  await page.keyboard.press('Escape')
  expect(await focused()).toBe('development STRIPE_KEY')
  await cell(/^STRIPE_KEY in development: v1/).waitFor()

  await page.keyboard.press('F2')
  await page.keyboard.type(marked('typed_'))
  await page.keyboard.press('Tab')
  await field('STRIPE_KEY', 'staging').waitFor()
  await cell(/^STRIPE_KEY in development: v2/).waitFor()
  await page.keyboard.type(marked('typed_'))
  await page.keyboard.press('Enter')
  await cell(/^STRIPE_KEY in staging: same as dev/).waitFor()
  expect(await focused()).toBe('staging STRIPE_KEY')
  await ada.judge()
})

test('C copies the value of a cell without showing it', async () => {
  await cell(/^STRIPE_KEY in development/).focus()
  await page.keyboard.press('c')
  await page.getByText('STRIPE_KEY copied.').first().waitFor()
  await ada.judge()
})

test('a stored value is shown in its field only on request, and a multi-line one in the inspector', async () => {
  await cell(/^STRIPE_KEY in development/).dblclick()
  const typed = field('STRIPE_KEY', 'development')
  await typed.waitFor()
  await inspector('STRIPE_KEY').waitFor({ state: 'detached' })
  expect(await typed.inputValue()).toBe('')
  const masking = () =>
    typed.evaluate((input) => getComputedStyle(input).getPropertyValue('-webkit-text-security'))
  expect(await masking()).toBe('disc')
  await typed.press('F2')
  await page.waitForFunction((text) => {
    const input = document.activeElement
    return input instanceof HTMLInputElement && input.value === text
  }, marked('typed_'))
  expect(await masking()).toBe('none')
  await page.keyboard.press('Enter')
  await cell(/^STRIPE_KEY in development: v2/).waitFor()
  await ada.judge()

  await cell(/^CERTIFICATE in development/).focus()
  await page.keyboard.press('e')
  await page.getByRole('button', { name: 'Show CERTIFICATE in development (F2)' }).click()
  await inspector('CERTIFICATE').waitFor()
  await page.waitForFunction(
    (text) => [...document.querySelectorAll('textarea')].some((area) => area.value === text),
    long,
  )
  await inspector('CERTIFICATE').getByRole('button', { name: 'Close' }).click()
  await inspector('CERTIFICATE').waitFor({ state: 'detached' })
  await ada.judge()
})

test('a typed value stays in its field after a concurrent write or an unavailable server', async () => {
  await cell(/^STRIPE_KEY in production: Missing/).click()
  await field('STRIPE_KEY', 'production').waitFor()
  await put('STRIPE_KEY', 'production', marked('elsewhere_'))
  await page.keyboard.type(marked('mine_'))
  await page.keyboard.press('Enter')
  await page.getByText('Someone else changed this').waitFor()
  const typed = field('STRIPE_KEY', 'production')
  expect(await typed.inputValue()).toBe(marked('mine_'))
  await ada.judge({ reveals: true })
  await typed.press('Enter')
  await cell(/^STRIPE_KEY in production: v2/).waitFor()
  await page.getByText('STRIPE_KEY saved in production.').first().waitFor()

  await page.keyboard.press('e')
  await page.keyboard.type(marked('away_'))
  await page.context().setOffline(true)
  await page.keyboard.press('Enter')
  await page.getByText('The server is unavailable.', { exact: true }).first().waitFor()
  expect(await typed.inputValue()).toBe(marked('away_'))
  await page.context().setOffline(false)
  await typed.press('Enter')
  await cell(/^STRIPE_KEY in production: v3/).waitFor()
  await ada.judge()
})

test('a read-only member sees everything and no command that the server would refuse', async () => {
  const bob = await stage.person('bob')
  await joined(stage.app.controlPlane, 'Acme', ada.email, bob.email, 'read_only')
  await bob.page.goto(`${stage.origin}/console/${path}?pane=new`)
  await bob.sees('Secrets')
  await bob.page.getByText('Read-only role').waitFor()
  const stripe = bob.page.getByRole('button', { name: /^STRIPE_KEY in development/ })
  await stripe.focus()
  await bob.page.keyboard.press('e')
  expect(await bob.page.getByRole('textbox', { name: /^New value/ }).count()).toBe(0)
  await bob.page.keyboard.press('Enter')
  await bob.page.getByRole('region', { name: 'STRIPE_KEY' }).waitFor()
  await bob.judge()
  expect(await bob.page.getByRole('dialog').count()).toBe(0)
  const offered = await bob.page.getByRole('main').getByRole('button').allInnerTexts()
  expect(offered.filter((name) => /Add|Import|Save|Delete|New|Replace/.test(name))).toEqual([])
  expect(await bob.page.getByRole('checkbox', { name: /^Select/ }).count()).toBe(0)
  await bob.close()
})
