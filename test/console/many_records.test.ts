// tier: all
/**
 * An audit of 100,000 records (20,000 in the embedded database, which takes longer to fill). The time from a key press
 * to the next paint is reported, not asserted.
 */
import { expect } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { Grant } from '../../src/core/grant.ts'
import { selectLogs } from '../../src/features/audit/queries.ts'
import { seedAudit } from '../bench/seed_audit.ts'
import { databaseKind } from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { openOwnStage, type Person, type Stage } from './browser.ts'
import { interactionsOf, observe } from './interactions.ts'

const { test, beforeAll, afterAll } = requires('chromium')

const COUNT = databaseKind === 'postgresql' ? 100_000 : 20_000
const DAY_MS = 86_400_000
const figures = new Intl.NumberFormat('en')
let stage: Stage
let ada: Person
let workspaceId: string

beforeAll(async () => {
  stage = await openOwnStage()
  ada = await stage.person('ada')
  workspaceId = ada.workspaceId
  await seedAudit(stage.app.connection.sql, { workspaceId, rows: COUNT })
})
afterAll(async () => {
  await ada.close()
  await stage.close()
})

test('many records are paged, filtered and read from either end while the page has few rows', async () => {
  const { page } = ada
  const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10)
  await page.goto(`${stage.origin}/console/w/${workspaceId}/audit?since=${day(91)}&until=${day(0)}`)
  await page.getByText(`${figures.format(COUNT)} calls`).waitFor()
  const grid = page.getByRole('grid', { name: 'Events' })
  const firstCell = grid.locator('[data-row="0"] [data-column="0"]')
  await firstCell.focus()
  await page.evaluate(observe)
  for (let pages = 2; pages <= 6; pages += 1) {
    for (let press = 0; press < 6; press += 1) await page.keyboard.press('PageDown')
    await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    await page.getByText(`Newest ${figures.format(500 * pages)} events`).waitFor()
  }
  expect(await grid.getByRole('row').count()).toBeLessThan(100)

  const oldest = new Date(Date.now() - 90 * DAY_MS)
  const weekday = new Intl.DateTimeFormat('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
  })
  // The row that had the focus is out of view.
  await grid.focus()
  await page.keyboard.press('End')
  await page.getByText('Oldest 500 events').waitFor()
  await grid.getByText(weekday.format(oldest)).first().waitFor()
  expect(page.url()).toContain('order=oldest')
  expect(await firstCell.evaluate((cell) => cell.contains(document.activeElement))).toBe(true)
  await page.getByRole('button', { name: /^Time, oldest first/ }).click()
  await page.getByText('Newest 500 events').waitFor()

  for (const name of ['agent-7', 'NO_SUCH_KEY']) {
    await page.getByRole('combobox', { name: 'Search the audit log' }).focus()
    await page.keyboard.type(name)
    await page.getByRole('option', { name }).first().waitFor()
    await page.keyboard.press('Enter')
  }
  await page.getByText('No matching events').waitFor()
  await page.getByRole('button', { name: 'Remove Secret: NO_SUCH_KEY' }).click()
  await page.getByText('Newest 500 events').waitFor()
  await firstCell.focus()
  await page.keyboard.press('End')
  await page.getByText('Oldest 500 events').waitFor()
  await ada.judge()
  const { count, median, worst } = await interactionsOf(page)
  expect(count).toBeGreaterThan(5)
  console.info(
    `${COUNT} records: ${count} interactions, median ${median} ms, worst ${worst} ms to the next paint`,
  )
}, 60_000)

test('no page of the list reads the whole table, from either end, filtered or not', async () => {
  const grant = { workspaceId } as Grant<'audit.read'>
  const middle = { timestamp: new Date(Date.now() - 45 * DAY_MS).toISOString(), id: workspaceId }
  const filters = [{}, { agent_id: ['agent-7'] }, { credential: ['SHARED_KEY'], status_code: 200 }]
  const scans = await stage.app.connection.db.transaction(async (tx) => {
    const scanned = async () => {
      const [row] = await tx.execute<{ scans: number }>(
        sql`select seq_scan::int as scans from pg_stat_xact_user_tables where relname = 'audit_logs'`,
      )
      return row?.scans ?? Number.NaN
    }
    const before = await scanned()
    for (const filter of filters) {
      for (const order of ['newest', 'oldest'] as const) {
        for (const after of [null, middle]) {
          const rows = await selectLogs(tx, grant, filter, { after, order, limit: 500 })
          expect(rows.length).toBeGreaterThan(100)
        }
      }
    }
    return (await scanned()) - before
  })
  // The embedded database has fewer records, and a sequential scan reads them faster.
  if (databaseKind === 'postgresql') expect(scans).toBe(0)
})
