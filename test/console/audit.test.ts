// tier: all
/** The audit and the page of the installation's owner in the console. */
import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
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
  await seen.getByRole('listitem').filter({ hasText: ada.email }).waitFor()
  await seen.getByText('It cannot know what somebody copied').waitFor()
  await ada.judge()
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByRole('cell', { name: 'workspace.created' }).waitFor()
})

/** The texts that the page draws into canvases, as the scales of charts are. */
async function watchDrawnTexts(page: Page) {
  await page.addInitScript(() => {
    const drawn: string[] = []
    Reflect.set(globalThis, 'drawnTexts', drawn)
    const { prototype } = CanvasRenderingContext2D
    const original = prototype.fillText
    prototype.fillText = function (text, ...rest) {
      drawn.push(text)
      return original.call(this, text, ...rest)
    }
  })
  return () => page.evaluate(() => Reflect.get(globalThis, 'drawnTexts') as string[])
}

const DAY_MS = 86_400_000
const LAST_DAY = Date.parse('2026-06-20')
const dayAt = (back: number) => new Date(LAST_DAY - back * DAY_MS).toISOString().slice(0, 10)
const YEAR = /\b(19|20)\d\d\b/

test('the chart of 0, 1, 2, 14 and 90 days runs from its first day to its last', async () => {
  const { page, workspaceId } = ada
  const drawnTexts = await watchDrawnTexts(page)
  const totals = { requests: 1, allowed: 1, blocked: 0, errors: 0, redacted: 0 }
  const lists = { by_agent: [], by_domain: [], by_credential: [] }
  for (const count of [0, 1, 2, 14, 90]) {
    const by_day = Array.from({ length: count }, (_, back) => ({ date: dayAt(back), count: 5 }))
    const data = { totals, ...lists, by_day, is_whole: true }
    await page.route('**/api/audit/summary/*', (route) =>
      route.fulfill({ json: { status: 'success', data } }),
    )
    await page.goto(`${stage.origin}/console/w/${workspaceId}/audit`)
    await page.getByText('1 request in this time').waitFor()
    await page.getByRole('table', { name: 'Audit records' }).waitFor()
    expect(await page.locator('canvas').count()).toBe(count === 0 ? 0 : 1)
    const drawn = await drawnTexts()
    const otherYears = drawn.filter((text) => YEAR.test(text) && !text.includes('2026'))
    expect({ count, isDrawn: drawn.length > 0, otherYears }).toEqual({
      ...{ count, isDrawn: count > 0, otherYears: [] },
    })
    await page.unroute('**/api/audit/summary/*')
  }
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
