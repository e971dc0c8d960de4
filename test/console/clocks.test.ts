// tier: all
/** The console reports a clock that is wrong by more than five minutes, in both directions. */
import { expect } from 'bun:test'
import { requires } from '../support/requires.ts'
import { openStage, type Stage } from './browser.ts'

const { test, beforeAll, afterAll } = requires('chromium')

const DAY_MS = 86_400_000
let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('the console reports which clock is ahead, and shows nothing while the clocks agree', async () => {
  const ada = await stage.person('ada')
  const said = ada.page.getByText('Correct the wrong clock.')
  await ada.sees('Overview')
  expect(await said.count()).toBe(0)
  for (const [days, words] of [
    [400, '400 days behind'],
    [-400, '400 days ahead of'],
  ] as const) {
    await ada.page.clock.setSystemTime(Date.now() + days * DAY_MS)
    await ada.page.reload()
    await said.waitFor()
    expect(await said.textContent()).toContain(words)
  }
  await ada.close()
})
