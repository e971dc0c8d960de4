// tier: all
/** A browser without X25519 and Ed25519 in Web Crypto, and without async iteration of streams. */
import { expect } from 'bun:test'
import { freshEmail } from '../support/app.ts'
import { requires } from '../support/requires.ts'
import { signUp } from './accounts.ts'
import { logIn, openStage, type Stage } from './browser.ts'
import { runBeforeKeysWorker } from './worker_scripts.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

/** Run in the page, and in front of the worker of the keys. */
function removeFeatures() {
  const { prototype: streams } = ReadableStream
  for (const name of [Symbol.asyncIterator, 'values']) Reflect.deleteProperty(streams, name)
  const { prototype } = SubtleCrypto
  for (const name of ['generateKey', 'importKey', 'exportKey', 'deriveBits', 'sign', 'verify']) {
    const original = Reflect.get(prototype, name)
    const value = async function (this: SubtleCrypto, ...given: unknown[]) {
      const named = given.map((each) => Object(each).name ?? each)
      if (named.includes('X25519') || named.includes('Ed25519')) {
        throw new DOMException('', 'NotSupportedError')
      }
      return original.apply(this, given)
    }
    Object.defineProperty(prototype, name, { value })
  }
}

test('a browser without X25519, Ed25519 and iteration of streams signs in, opens a signed workspace and signs a change', async () => {
  const email = freshEmail('ada')
  await signUp(stage.app.controlPlane, email)
  const ada = await stage.visitor('login')
  const { page } = ada
  let workers = 0
  await page.context().addInitScript(removeFeatures)
  await runBeforeKeysWorker(page.context(), async () => {
    workers += 1
    return `(${removeFeatures})()`
  })
  await page.reload()
  await logIn(page, email)
  await ada.sees('Overview')
  await page.getByRole('link', { name: 'Signed history', exact: true }).click()
  await ada.sees('Signed history')
  await page.getByText('The change is signed and unbroken.').waitFor()
  await page.getByRole('link', { name: 'Allowed hosts', exact: true }).click()
  await page.getByRole('button', { name: 'Add host' }).first().click()
  await page.getByRole('textbox', { name: 'Host', exact: true }).fill('api.example.com')
  await page.keyboard.press('Enter')
  await page.getByRole('rowheader', { name: 'api.example.com' }).waitFor()
  // The page before the reload may have requested one, too.
  expect(workers).toBeGreaterThan(0)
  await ada.close()
})
