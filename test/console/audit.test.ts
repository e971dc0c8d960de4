// tier: all
/** The audit and the page of the installation's owner in the console. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { openStage, PASSWORD, type Stage, type Visitor } from './browser.ts'

let stage: Stage
let ada: Visitor

beforeAll(async () => {
  stage = await openStage()
  ada = await stage.person('ada@example.com')
})
afterAll(() => stage.close())

/** Ten a day, as if an agent had made them. */
async function callsOfAWeek() {
  await stage.app.connection.sql`
    insert into audit_logs select (jsonb_populate_record(created, jsonb_build_object(
      'id', gen_random_uuid(), 'timestamp', now() - n * interval '144 minutes', 'source', 'resolver',
      'action', null, 'agent_id', 'deploy-bot', 'identity_level', 'agent', 'decision', 'allowed',
      'method', 'POST', 'status_code', 200, 'target_domain', 'api.stripe.com',
      'target_path', '/v1/charges', 'credential_ref', 'PAYMENTS_KEY'))).*
    from audit_logs as created, generate_series(1, 70) as n where action = 'workspace.created'`
}

test('records are filtered by the address, exported, and say who could have seen a secret', async () => {
  const { page } = ada
  await ada.sees('Workspaces')
  await page.getByRole('link', { name: 'Personal' }).click()
  await page.getByRole('navigation').getByRole('link', { name: 'Audit' }).click()
  await ada.sees('Audit')
  await page.getByRole('cell', { name: 'workspace.created' }).waitFor()
  await ada.judge()
  await callsOfAWeek()
  await page.reload()
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByText('70 requests in this time').waitFor()
  await page.locator('canvas').waitFor()
  await page.getByRole('cell', { name: 'api.stripe.com/v1/charges' }).first().waitFor()
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
  await seen.getByText('It cannot know what somebody copied').waitFor()
  await ada.judge()
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByRole('cell', { name: 'workspace.created' }).waitFor()
})

test('its owner sees the state of the installation, and nobody else', async () => {
  const { page } = ada
  await stage.app.connection.sql`update instance set backup_failed_at = now()`
  await page.getByRole('link', { name: 'Cloakroom' }).click()
  await ada.sees('Workspaces')
  await page.getByRole('link', { name: 'Instance' }).click()
  await ada.sees('Instance')
  await page.getByText('Newest migration').waitFor()
  await page.getByText('No backup is recorded by this instance.').waitFor()
  await page.getByText(/^The backup of .* failed\./).waitFor()
  await page.getByText('cloakroom backup FILE').waitFor()
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
