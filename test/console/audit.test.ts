// tier: all
/** The audit and the page of the installation's owner in the console. */
import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { requires } from '../support/requires.ts'
import { openOwnStage, type Person, type Stage } from './browser.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage
let ada: Person

beforeAll(async () => {
  // Its first account owns the installation.
  stage = await openOwnStage()
  ada = await stage.person('ada')
})
afterAll(() => stage.close())

/** Ten a day, like those of an agent. */
async function insertCallsOfAWeek() {
  await stage.app.connection.sql`
    insert into audit_logs select (jsonb_populate_record(created, jsonb_build_object(
      'id', gen_random_uuid(), 'timestamp', now() - n * interval '144 minutes', 'source', 'resolver',
      'action', null, 'agent_id', 'deploy-bot', 'identity_level', 'agent', 'decision', 'allowed',
      'method', 'POST', 'status_code', 200, 'target_domain', 'api.stripe.com',
      'target_path', '/v1/charges', 'credential_ref', 'PAYMENTS_KEY'))).*
    from audit_logs as created, generate_series(1, 70) as n where action = 'workspace.created'`
}

test('audit records are filtered by the address, exported, and list who could have seen a secret', async () => {
  const { page } = ada
  await ada.sees('Workspaces')
  await page.getByRole('link', { name: 'Personal' }).click()
  await page.getByRole('navigation').getByRole('link', { name: 'Audit' }).click()
  await ada.sees('Audit')
  await page.getByRole('cell', { name: 'workspace.created' }).waitFor()
  await ada.judge()
  await insertCallsOfAWeek()
  await page.reload()
  await page.getByText('70 requests in this time').waitFor()
  await page.getByRole('figure').waitFor()
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
  await seen.getByRole('listitem').filter({ hasText: ada.email }).waitFor()
  await seen.getByText('It cannot know what somebody copied').waitFor()
  await ada.judge()
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByRole('cell', { name: 'workspace.created' }).waitFor()
})

test('no table breaks a line within a word, at the widths of a laptop and a desktop', async () => {
  const { page, workspaceId } = ada
  const { sql } = stage.app.connection
  await sql`update audit_logs set
    credential_ref = 'PAYMENTS_KEY,STRIPE_WEBHOOK_SIGNING_SECRET,GITHUB_APP_PRIVATE_KEY',
    target_path = '/v1/organizations/acme-incorporated/environments/production/deployments'
    where workspace_id = ${workspaceId} and agent_id = 'deploy-bot'`
  for (const width of [1024, 1280, 1600]) {
    await page.setViewportSize({ width, height: 800 })
    for (const path of ['audit', 'members', 'history']) {
      await page.goto(`${stage.origin}/console/w/${workspaceId}/${path}`)
      await page.locator('.table tbody tr').first().waitFor()
      expect([width, path, await page.evaluate(brokenWords)]).toEqual([width, path, []])
    }
  }
})

/** Runs in the page: words of tables that are on more than one line. */
function brokenWords(): string[] {
  const broken = new Set<string>()
  const texts = document.createTreeWalker(
    document.querySelector('.table') ?? document.body,
    NodeFilter.SHOW_TEXT,
  )
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    for (const { 0: word, index } of (node.textContent ?? '').matchAll(/[A-Za-z0-9]+/g)) {
      const range = document.createRange()
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
      if (lines.size > 1) broken.add(word)
    }
  }
  return [...broken]
}

test('only the owner of the installation sees its state', async () => {
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
  const bob = await stage.person('bob', 'instance')
  await bob.sees('Instance')
  await bob.page.getByText('Only the owner of this installation').waitFor()
  await bob.judge()
  await bob.close()
})
