// tier: all
/** The Instance screen: a healthy and a failing installation, days with and without figures, and other people. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { getHealth } from '../../src/features/health/contract.ts'
import { type DailyRow, listMetrics } from '../../src/features/metrics/contract.ts'
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

/** Figures of so many days, newest first; every tenth day has none. */
function daysOfFigures(count: number): DailyRow[] {
  return Array.from({ length: count }, (_, at) => at)
    .filter((at) => at % 10 !== 9)
    .map((at) => ({
      ...{ date: new Date(Date.UTC(2026, 10, 27 - at)).toISOString().slice(0, 10), new_users: 0 },
      ...{ total_users: 12, total_workspaces: 3, total_projects: 4, total_secrets: 85 },
      ...{ total_agents: 5, active_tokens: 6, dau: 3 + (at % 5), wau: 7, mau: 9 },
      ...{ resolver_calls: 100 + at, resolver_blocked: 4, resolver_redacted: 0 },
      ...{ resolver_errors: 1, active_agents: 2, resolver_p50_ms: 20, resolver_p95_ms: 40 },
      ...{ workload_deliveries: 0, top_domains: [] },
    }))
}

async function showDays(count: number): Promise<void> {
  const json = { data: daysOfFigures(count), has_more: false, next_cursor: null }
  await page.route(`**${listMetrics.path}*`, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), ...json } })
  })
  await page.reload()
  await card('Calls per day').waitFor()
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
  await showDays(count)
  const rows = daysOfFigures(count)
  const calls = rows.reduce((sum, { resolver_calls }) => sum + resolver_calls, 0)
  await page.getByText(`${calls.toLocaleString('en')} calls`).waitFor()
  await page.getByText(`Refused ${(4 * rows.length).toLocaleString('en')}`).waitFor()
  const { bars, shown } = await card('Calls per day').evaluate((element) => ({
    bars: element.querySelectorAll('svg g rect').length,
    shown: element.querySelectorAll('svg g').length,
  }))
  // Days without figures have a place and no bar.
  expect({ bars, shown }).toEqual({ bars: 3 * rows.length, shown: spanOf(rows) })
  await ada.judge()
})

function spanOf(rows: readonly DailyRow[]): number {
  const [first, last] = [rows.at(-1)?.date ?? '', rows[0]?.date ?? '']
  return (Date.parse(last) - Date.parse(first)) / 86_400_000 + 1
}

test('a failing check and a failed backup are visible at once', async () => {
  await page.route(`**${getHealth.path}`, async (route) => {
    const response = await route.fetch()
    const health = await response.json()
    const checks = { ...health.checks, cache: { status: 'unhealthy', latency_ms: 5000 } }
    await route.fulfill({ response, status: 503, json: { ...health, status: 'degraded', checks } })
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
