// tier: all
/** The console at a plain http address of a LAN, where a browser has no Web Crypto. */
import { expect } from 'bun:test'
import { requires } from '../support/requires.ts'
import { LAN_NAME, type OwnStage, openOwnStage } from './browser.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: OwnStage

beforeAll(async () => {
  stage = await openOwnStage({ ALLOWED_HOSTS: `localhost,${LAN_NAME}` })
})
afterAll(() => stage.close())

test('the console explains at each insecure address why it cannot start, and lists three solutions', async () => {
  const { port } = new URL(stage.origin)
  const origin = `http://${LAN_NAME}:${port}`
  for (const path of ['', 'login', 'invitation#server=x', 'w/01a2059e/secrets']) {
    const visitor = await stage.visitor(path, origin)
    const { page } = visitor
    expect(await page.evaluate(() => isSecureContext)).toBe(false)
    await visitor.sees('The console needs HTTPS or localhost')
    await page.getByText(`Your browser offers no Web Crypto at ${origin}.`).waitFor()
    const headings = await page.getByRole('heading', { level: 2 }).allInnerTexts()
    expect(headings).toEqual(['Use HTTPS', 'Use a tunnel to localhost', 'Use the command line'])
    expect(await page.locator('code').allInnerTexts()).toEqual([
      `ssh -L 8000:${LAN_NAME}:${port} ${LAN_NAME}`,
      `cloakroom console --server ${origin} --insecure-http`,
    ])
    expect(await page.getByText('Loading').count()).toBe(0)
    await visitor.judge()
    await visitor.close()
  }
})
