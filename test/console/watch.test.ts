/** The harness itself: what the tests of the console rely on to fail. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { takeLeaks } from '../support/canary.ts'
import { openStage, PASSWORD, type Stage } from './browser.ts'

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('a page that breaks its policy, fails, or asks elsewhere fails the test', async () => {
  const { page, close } = await stage.visitor('login')
  await page.evaluate(async () => {
    const image = new Image()
    image.src = 'https://elsewhere.invalid/pixel.png'
    document.body.append(image)
    const style = document.createElement('style')
    style.textContent = 'body { color: red }'
    document.head.append(style)
    await fetch('https://elsewhere.invalid/').catch(() => {})
    setTimeout(() => {
      throw new Error('on purpose')
    })
  })
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)))
  const said = await close().catch((error) => String(error))
  for (const part of ['img-src', 'style-src', 'connect-src', 'on purpose']) {
    expect(said).toContain(part)
  }
})

test('a script of text does not run, neither in the page nor in a worker of another address', async () => {
  const { page, close } = await stage.visitor('login')
  const tries = await page.evaluate(() => {
    const attempt = (act: () => unknown) => {
      try {
        act()
        return 'done'
      } catch (error) {
        return String(error)
      }
    }
    return [
      attempt(() => new Worker('data:text/javascript,1')),
      attempt(() => {
        document.body.innerHTML = '<b>text</b>'
      }),
      attempt(() => Reflect.get(globalThis, 'trustedTypes').createPolicy('cloakroom', {})),
    ]
  })
  for (const outcome of tries) expect(outcome).toMatch(/TypeError/)
  expect(await close().catch((error) => String(error))).toContain('trusted')
})

test('the canary sees requests of the worker, storage and the page', async () => {
  const { page, judge, close } = await stage.visitor('login')
  await page.getByLabel('Password').fill(PASSWORD)
  await judge()
  expect(takeLeaks().join()).toContain('the page')
  await page.evaluate((text) => localStorage.setItem('kept', text), PASSWORD)
  await page.getByLabel('Password').clear()
  await judge()
  expect(takeLeaks().join()).toContain('storage')
  await page.evaluate(() => localStorage.clear())
  // The address goes to the server as it is: a mark in it is seen in what the worker sends.
  await page.getByLabel('E-mail address').fill(`${PASSWORD.replaceAll(' ', '.')}@example.com`)
  await page.getByLabel('Password').fill('x')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('alert').waitFor()
  expect(takeLeaks().join()).toContain('POST /api/auth/prelogin/')
  await close()
  takeLeaks()
})
