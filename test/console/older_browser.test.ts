// tier: all
/** A browser that has less than Chromium: no X25519 and Ed25519 in Web Crypto, and streams that are read by readers only. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { signUp } from '../../src/client/vault.ts'
import { logIn, openStage, PASSWORD, type Stage } from './browser.ts'

const EMAIL = 'ada@example.com'

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
  await signUp(stage.app.controlPlane, EMAIL, PASSWORD)
})
afterAll(() => stage.close())

/** Run in the page, and in front of the worker of the keys. */
function takeAway() {
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

test('logs in, opens a signed workspace and signs a change in a browser without X25519, Ed25519 and iteration of streams', async () => {
  const ada = await stage.visitor('login')
  const { page } = ada
  let workers = 0
  await page.context().addInitScript(takeAway)
  await page.context().route('**/assets/worker-*.js', async (route) => {
    workers += 1
    const response = await route.fetch()
    await route.fulfill({ response, body: `(${takeAway})();${await response.text()}` })
  })
  await page.reload()
  await logIn(page, EMAIL)
  await ada.sees('Workspaces')
  await page.getByLabel('Name').fill('acme')
  await page.getByRole('button', { name: 'Make a workspace' }).click()
  await page.getByRole('link', { name: 'acme' }).first().click()
  await page.getByRole('link', { name: 'History' }).click()
  await ada.sees('History')
  await page.getByText('its one signed change hold').waitFor()
  expect(workers).toBe(1)
  await ada.close()
})
