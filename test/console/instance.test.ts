// tier: all
/** The page of the installation's owner in the console. */
import { requires } from '../support/requires.ts'
import { openOwnStage, type Stage } from './browser.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage

beforeAll(async () => {
  stage = await openOwnStage()
})
afterAll(() => stage.close())

test('only the owner of the installation sees its state', async () => {
  // The first account owns the installation.
  const ada = await stage.person('ada', 'instance')
  const { page } = ada
  await stage.app.connection.sql`update instance set backup_failed_at = now()`
  await ada.sees('Instance')
  await page.getByText('Newest migration').waitFor()
  await page.getByText('No backup is recorded by this instance.').waitFor()
  await page.getByText(/^The backup of .* failed\./).waitFor()
  await page.getByText('cloakroom backup FILE').waitFor()
  await page.getByRole('heading', { name: 'By day' }).waitFor()
  await ada.judge()
  await ada.picture('instance')
  await ada.close()
  const bob = await stage.person('bob', 'instance')
  await bob.sees('Instance')
  await bob.page.getByText('Only the owner of this installation').waitFor()
  await bob.judge()
  await bob.close()
})
