/** The audit and the page of the installation's owner in the console. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { openStage, type Stage, type Visitor } from './browser.ts'

let stage: Stage
let ada: Visitor

beforeAll(async () => {
  stage = await openStage()
  ada = await stage.person('ada@example.com')
})
afterAll(() => stage.close())

test('records are filtered by the address, exported, and say who could have seen a secret', async () => {
  const { page } = ada
  await ada.sees('Workspaces')
  await page.getByRole('link', { name: 'Personal' }).click()
  await page.getByRole('navigation').getByRole('link', { name: 'Audit' }).click()
  await ada.sees('Audit')
  await page.getByRole('cell', { name: 'workspace.created' }).waitFor()
  await ada.judge()
  await ada.picture('audit')

  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export (JSON lines)' }).click()
  const file = readFileSync(await (await saving).path(), 'utf8')
  expect(
    file
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).action),
  ).toContain('workspace.created')

  await page.getByLabel('Secret').fill('STRIPE_KEY')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByText('No record fits.').waitFor()
  expect(page.url()).toContain('credential=STRIPE_KEY')
  const seen = page.getByRole('region', { name: 'Who could have seen this secret' })
  await seen.getByRole('listitem').filter({ hasText: 'ada@example.com' }).waitFor()
  await ada.judge()
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByRole('cell', { name: 'workspace.created' }).waitFor()
})

test('its owner sees the state of the installation, and nobody else', async () => {
  const { page } = ada
  await page.getByRole('link', { name: 'Cloakroom' }).click()
  await ada.sees('Workspaces')
  await page.getByRole('link', { name: 'Instance' }).click()
  await ada.sees('Instance')
  await page.getByText('Newest migration').waitFor()
  await page.getByRole('heading', { name: 'By day' }).waitFor()
  await ada.judge()
  await ada.picture('instance')
  await ada.close()
  const bob = await stage.person('bob@example.com', 'instance')
  await bob.sees('Instance')
  await bob.page.getByText('Only the owner of this installation').waitFor()
  await bob.judge()
  await bob.close()
})
