// tier: all
/** A session that ended while no tab was open: the console then forgets the keys that stayed open. */
import { expect } from 'bun:test'
import { listSessions, revokeSession } from '../../src/features/accounts/contract.ts'
import { requires } from '../support/requires.ts'
import { openStage, type Stage } from './browser.ts'
import { elsewhere } from './elsewhere.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('a session that ended while no tab was open is reported, and its keys are forgotten', async () => {
  const ada = await stage.personByScreen('ada', 'account')
  const { page } = ada
  await page.getByRole('button', { name: /Lock after/ }).click()
  await page.getByRole('option', { name: '8 hours' }).click()
  await page.getByText('Your keys stay unlocked in this browser until').waitFor()
  const kept = () =>
    page.evaluate(async () => {
      const done = <T>(request: IDBRequest<T>) =>
        new Promise<T>((resolve) => {
          request.onsuccess = () => resolve(request.result)
        })
      const database = await done(indexedDB.open('cloakroom'))
      const rows = await done(database.transaction('staying').objectStore('staying').count())
      database.close()
      return rows
    })
  expect(await kept()).toBe(1)
  await page.goto(`${stage.origin}/console/SHA256SUMS`)
  const { api } = await elsewhere(stage.app.controlPlane, ada.email)
  for (const { id, current } of await api.list(listSessions, {})) {
    if (!current) await api.call(revokeSession, { params: { session_id: id } })
  }
  await page.goto(`${stage.origin}/console/`)
  await page.getByText('Your session ended').first().waitFor()
  expect(await kept()).toBe(0)
  await ada.close()
})
