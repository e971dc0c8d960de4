// tier: quick
/** The keys of the console: the worker holds them, Lock deletes them in all tabs, and the password restores them. */
import { expect } from 'bun:test'
import { requires } from '../support/requires.ts'
import { PASSWORD } from './accounts.ts'
import { chooseInAccount, openStage, type Stage } from './browser.ts'
import { askWorker } from './worker_clock.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('Lock deletes remembered keys, a reload does not restore them, and the password unlocks again', async () => {
  const ada = await stage.person('ada')
  const { page } = ada
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await ada.sees('Overview')
  expect(await askWorker(page, 'workspaces.list')).toBe('done')
  await chooseInAccount(page, 'Lock')
  await ada.sees('Unlock')
  expect(await askWorker(page, 'workspaces.list')).toBe('locked')
  await page.reload()
  await ada.sees('Unlock')
  expect(await askWorker(page, 'workspaces.list')).toBe('locked')
  await page.getByLabel('Password').fill(PASSWORD)
  await button('Unlock').click()
  await ada.sees('Overview')
  expect(await askWorker(page, 'workspaces.list')).toBe('done')
  await ada.close()
})
