// tier: all
/** The Instance screen: a healthy and a failing installation, days with and without figures, and other people. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { getHealth } from '../../src/features/health/contract.ts'
import { requires } from '../support/requires.ts'
import { openOwnStage, type Person, type Stage } from './browser.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage
let ada: Person
let page: Page

beforeAll(async () => {
  // Its first account owns the installation.
  stage = await openOwnStage()
  ada = await stage.person('ada', 'instance')
  page = ada.page
})
afterAll(() => stage.close())

const card = (name: string) => page.getByRole('region', { name })

/** Stores figures of so many days that end today; every tenth day has none. */
async function storeDays(count: number): Promise<number> {
  const { sql } = stage.app.connection
  await sql`delete from daily_metrics`
  const stored = await sql`
    insert into daily_metrics
    select current_date - at, 12, 0, 3, 4, 85, 5, 6, 3 + at % 5, 7, 9, 100 + at, 4, 0, 1, 2, 20, 40, 0, '[]', now()
    from generate_series(0, ${count - 1}::int) as at where at % 10 <> 9 returning resolver_calls`
  return stored.reduce((sum, { resolver_calls }) => sum + Number(resolver_calls), 0)
}

test('a healthy installation shows its version, storage, settings and backups', async () => {
  await ada.sees('Instance')
  await card('Health').getByText('Healthy').nth(2).waitFor()
  await card('Version')
    .getByText(/^\d+\.\d+\.\d+/)
    .waitFor()
  await card('Storage')
    .getByText(/PostgreSQL \d/)
    .waitFor()
  await card('Settings').getByText('Kept forever').waitFor()
  await card('Backups').getByText('None recorded').waitFor()
  await page.getByText('No figures yet.').waitFor()
  await ada.judge()
})

test.each([1, 2, 14, 90])('the charts show the figures of %d days', async (count) => {
  const calls = await storeDays(count)
  await page.reload()
  await page.getByText(`${calls.toLocaleString('en')} calls`).waitFor()
  await page.getByText('12 people · 85 secrets').waitFor()
  const bars = await card('Calls per day').locator('svg g rect').count()
  const withCalls = count - Math.floor(count / 10)
  expect(bars).toBe(3 * withCalls)
  // Days without figures have a place and no bar.
  expect(await card('Calls per day').locator('svg g').count()).toBe(
    count % 10 === 0 ? count - 1 : count,
  )
  await ada.judge()
})

test('a failing check and a failed backup are visible at once', async () => {
  await page.route(`**${getHealth.path}`, async (route) => {
    const response = await route.fetch()
    const health = await response.json()
    const checks = { ...health.checks, cache: { status: 'unhealthy', latency_ms: 5000 } }
    await route.fulfill({ status: 503, json: { ...health, status: 'degraded', checks } })
  })
  await stage.app.connection.sql`update instance set backup_failed_at = now()`
  await page.reload()
  await page.getByText('Degraded', { exact: true }).waitFor()
  await card('Health').getByText('Unavailable').waitFor()
  await card('Backups')
    .getByText(/^The backup of .* failed\./)
    .waitFor()
  await ada.judge()
  await ada.picture('instance')
})

test('only the owner of the installation sees its state', async () => {
  const bob = await stage.person('bob', 'instance')
  await bob.sees('Instance')
  await bob.page.getByText('Only the owner of this installation can see its state.').waitFor()
  await bob.judge()
  await bob.close()
})
