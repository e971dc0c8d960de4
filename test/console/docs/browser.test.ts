// tier: all
/** The documentation in a real browser: accessible, readable on a phone, searchable by keyboard. */
import { expect } from 'bun:test'
import { ensureDocs } from '../../../src/dev/docs/index.ts'
import { requires } from '../../support/requires.ts'
import { openStage, type Stage } from '../browser.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage

beforeAll(async () => {
  await ensureDocs()
  stage = await openStage()
})
afterAll(() => stage.close())

const PAGES = [
  '',
  'guides/agents',
  'guides/approvals',
  'reference/protocol',
  'internals/performance',
]
const PHONE = { width: 390, height: 844 }
const DESK = { width: 1280, height: 800 }

test('pages are accessible in both themes, and a phone scrolls them in one direction only', async () => {
  const visitor = await stage.visitor('../docs/')
  const { page } = visitor
  for (const path of PAGES) {
    await page.goto(`${stage.origin}/docs/${path}`)
    for (const size of [DESK, PHONE]) {
      await page.setViewportSize(size)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await visitor.judge()
      }
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect({ path, size, wider: Math.max(0, wider) }).toEqual({ path, size, wider: 0 })
    }
  }
  visitor.report()
  await visitor.close()
})

test('the search opens with a key, lists sections, and Enter opens the first one', async () => {
  const visitor = await stage.visitor('../docs/')
  const { page } = visitor
  await page.setViewportSize(DESK)
  await page.keyboard.press('/')
  await page.keyboard.type('server keys')
  await page
    .getByRole('link', { name: /Server keys/ })
    .first()
    .waitFor()
  await visitor.judge()
  await page.keyboard.press('ArrowDown')
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('href'))
  expect(await focused()).toBe('/docs/guides/server-keys')
  await page.keyboard.press('Escape')
  expect(await page.locator('#results').isHidden()).toBe(true)
  await page.keyboard.type(' ')
  await page.locator('#results a').first().waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/guides/server-keys')
  await visitor.close()
})

test('a phone opens the list of pages from the menu, and a code block has a button that copies it', async () => {
  const visitor = await stage.visitor('../docs/guides/approvals')
  const { page } = visitor
  await page.setViewportSize(PHONE)
  expect(await page.locator('#pages').isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.locator('#pages').getByRole('link', { name: 'Approvals' }).waitFor()
  await visitor.judge()
  await page.locator('#pages').getByRole('link', { name: 'Notices' }).click()
  await visitor.sees('Notices')
  await page.setViewportSize(DESK)
  await page.locator('.copy').first().focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  await visitor.close()
})

test('the list of pages scrolls to the current page, and the page itself stays at its beginning', async () => {
  const visitor = await stage.visitor('../docs/internals/testing')
  const { page } = visitor
  await page.setViewportSize(DESK)
  await page.reload()
  const places = await page.evaluate(() => {
    const current = document.querySelector('#pages [aria-current]')?.getBoundingClientRect()
    return { scrolled: scrollY, isVisible: current !== undefined && current.bottom < innerHeight }
  })
  expect(places).toEqual({ scrolled: 0, isVisible: true })
  await visitor.close()
})

test('pages follow the theme that was chosen in the console, before they are drawn', async () => {
  const visitor = await stage.visitor('../docs/')
  const { page } = visitor
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await background()
  await page.evaluate(() => localStorage.setItem('theme', 'dark'))
  await page.reload()
  expect(await background()).not.toBe(light)
  await visitor.close()
})

test('the account menu of the console opens the documentation in another tab', async () => {
  const ada = await stage.person('ada')
  const { page } = ada
  await page.getByRole('button', { name: 'Account menu' }).click()
  const opened = page.context().waitForEvent('page')
  await page.getByRole('menuitem', { name: 'Documentation' }).click()
  const docs = await opened
  await docs.waitForURL('**/docs/')
  await docs.getByRole('heading', { name: 'Cloakroom documentation' }).waitFor()
  await ada.close()
})
