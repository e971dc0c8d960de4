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

test('a pasted key becomes an encrypted secret of a new project, and the server gets no plaintext', async () => {
  const ada = await stage.person('ada')
  const { page, workspaceId } = ada
  await page.goto(`${stage.origin}/console/w/${workspaceId}/first-steps`)
  await ada.sees('Make your first call')
  await page.getByLabel('API key').fill(marked('ghp_'))
  await page.keyboard.press('Enter')
  await page.getByText('Waiting for the call').waitFor()
  const rows = await stage.app.connection.sql<{ key: string; value: Uint8Array }[]>`
    select key, value from secrets s join projects p on p.id = s.project_id
    where p.workspace_id = ${workspaceId}`
  expect(rows.map(({ key }) => key)).toEqual(['GITHUB_TOKEN'])
  for (const { value } of rows) expect(Buffer.from(value).toString('latin1')).not.toContain('ghp_')
  await ada.close()
})
