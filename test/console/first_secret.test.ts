// tier: quick
/** A member stores a first secret and an agent in the browser, and the server receives no plaintext. */
import { expect } from 'bun:test'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { openStage, type Stage } from './browser.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('a new member creates a project and a secret, and the server stores the secret encrypted', async () => {
  const ada = await stage.person('ada')
  const { page } = ada
  await ada.sees('Workspaces')
  const link = page.getByRole('link', { name: /Personal/ }).first()
  const [workspace = ''] =
    /\/console\/w\/[\w-]+/.exec((await link.getAttribute('href')) ?? '') ?? []
  await page.goto(`${stage.origin}${workspace}/first-steps`)
  const label = (name: string) => page.getByLabel(name, { exact: true })
  await ada.sees('First steps')
  await label('Name of the project').fill('billing')
  await page.keyboard.press('Enter')
  await label('Name of the secret').fill('GITHUB_TOKEN')
  await page.keyboard.press('Tab')
  await page.keyboard.type(marked('ghp_'))
  await page.keyboard.press('Enter')
  await label('Host').waitFor()
  const rows = await stage.app.connection.sql<{ key: string; value: Uint8Array }[]>`
    select key, value from secrets s join projects p on p.id = s.project_id
    where p.name = 'billing'`
  expect(rows.map(({ key }) => key)).toContain('GITHUB_TOKEN')
  for (const { value } of rows) expect(Buffer.from(value).toString('latin1')).not.toContain('ghp_')
  await ada.close()
})
