// tier: all
/** Secrets typed into the cells of the matrix, and the same screen for somebody who may only read. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { upload } from '../../src/client/sealing.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { marked } from '../support/canary.ts'
import { openStage, PASSWORD, type Stage, type Visitor } from './browser.ts'
import { elsewhere, joined, shared } from './elsewhere.ts'

let stage: Stage
let ada: Visitor
let page: Page
let path: string
/** What is stored, from another machine. */
let put: (key: string, environment: string, value: string) => Promise<unknown>

const value = marked('first_')
const long = `${marked('-----BEGIN')}\nline two\nline three`

beforeAll(async () => {
  stage = await openStage()
  const server = stage.app.controlPlane
  ada = await stage.person('ada@example.com')
  const id = await shared(server, 'ada@example.com', 'Acme')
  const place = await elsewhere(server, 'ada@example.com', undefined, 'Acme')
  const { api, workspace } = place
  const body = { name: 'billing', workspace_id: id }
  const { id: projectId } = await api.call(createProject, { body })
  put = (key, environment, text) =>
    upload(
      { api, workspace, projectId, environment },
      [{ key, value: text, policy: undefined }],
      true,
    )
  await put('CERTIFICATE', 'development', long)
  await put('STRIPE_KEY', 'development', value)
  path = `w/${id}/secrets`
  page = ada.page
  await page.goto(`${stage.origin}/console/${path}`)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.keyboard.press('Enter')
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

test('a value is typed into its cell and stored by Enter; Escape gives up, and Tab goes on', async () => {
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

test('the value that is there is shown in its field only when it is asked for, and one of several lines beside it', async () => {
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

test('what the server refuses is as it was, and what was typed stays: somebody else was first, or the server is away', async () => {
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
  await page.getByText('The server cannot be reached.').first().waitFor()
  expect(await typed.inputValue()).toBe(marked('away_'))
  await page.context().setOffline(false)
  await typed.press('Enter')
  await cell(/^STRIPE_KEY in production: . v3/).waitFor()
  await ada.judge()
})

test('who may only read sees everything, is offered nothing that the server would refuse, and is told why', async () => {
  const bob = await stage.person('bob@example.com')
  await joined(stage.app.controlPlane, 'Acme', 'ada@example.com', 'bob@example.com', 'read_only')
  await bob.page.goto(`${stage.origin}/console/${path}?pane=new`)
  await bob.page.getByLabel('Password').fill(PASSWORD)
  await bob.page.keyboard.press('Enter')
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
