/** Secrets by environment, as somebody works with them in a real browser. */
import { afterAll, beforeAll, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { marked } from '../support/canary.ts'
import { openStage, type Stage, type Visitor } from './browser.ts'

let stage: Stage
let ada: Visitor
let page: Page

beforeAll(async () => {
  stage = await openStage()
  ada = await stage.person('ada@example.com')
  page = ada.page
})
afterAll(() => stage.close())

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
const label = (name: string) => page.getByLabel(name, { exact: true })
const cell = (words: RegExp) => page.getByRole('button', { name: words })

const pane = () => page.locator('section.pane')

test('makes a project, stores a secret, looks at it, and stores another value', async () => {
  await page.getByRole('link', { name: 'Personal' }).click()
  await ada.sees('Secrets')
  await page.getByText('This workspace has no project yet').waitFor()
  await label('Name of the project').fill('billing')
  await page.keyboard.press('Enter')
  await page.getByText('Nothing is stored here yet').waitFor()
  await ada.judge()

  const [first, second] = [marked('sk_test_'), marked('sk_live_')]
  await button('Add a secret').click()
  await label('Name').fill('STRIPE_KEY')
  await label('Value').fill(first)
  await button('Save').click()
  await cell(/^STRIPE_KEY in development: value A, version 1, changed today/).waitFor()
  await cell(/^STRIPE_KEY is missing in production/).click()
  await pane().getByRole('heading', { name: 'STRIPE_KEY in production' }).waitFor()
  await ada.judge()
  await label('Value').fill(second)
  await button('Save').click()
  await cell(/^STRIPE_KEY in production: value B/).waitFor()
  await button('Show STRIPE_KEY').click()
  await page.getByText(second).waitFor()
  await ada.judge({ reveals: true })
  await button('Hide STRIPE_KEY').click()
  await label('New value').fill(first)
  await button('Save').click()
  await cell(/^STRIPE_KEY in production: value A, version 2/).waitFor()
  await ada.judge()
})

test('rolls back to an earlier version, after it was looked at', async () => {
  await page.getByRole('tab', { name: 'Versions' }).click()
  await button('Show STRIPE_KEY, Version 1').waitFor()
  await ada.judge()
  await button('Roll back').click()
  await page.getByText('What is in use now stays among the versions').waitFor()
  await ada.judge()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Roll back' }).click()
  await cell(/^STRIPE_KEY in production: value B, version 3/).waitFor()
})
