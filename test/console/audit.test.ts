// tier: all
/** The audit log in the console. */
import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { requires } from '../support/requires.ts'
import { openOwnStage, type Person, type Stage } from './browser.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage
let ada: Person

beforeAll(async () => {
  stage = await openOwnStage()
  ada = await stage.person('ada')
  await ada.page.goto(`${stage.origin}/console/w/${ada.workspaceId}/audit`)
})
afterAll(() => stage.close())

/** Ten a day, like those of an agent; one a day is refused. */
async function insertCallsOfAWeek() {
  await stage.app.connection.sql`
    insert into audit_logs select (jsonb_populate_record(created, jsonb_build_object(
      'id', gen_random_uuid(), 'timestamp', now() - n * interval '144 minutes', 'source', 'resolver',
      'action', null, 'agent_id', 'deploy-bot', 'user_id', null, 'identity_level', 'agent',
      'decision', case when n % 10 = 0 then 'blocked' else 'allowed' end,
      'reason', case when n % 10 = 0 then 'domain_blocked' end,
      'method', 'POST', 'status_code', case when n % 10 = 0 then 403 else 200 end,
      'target_domain', 'api.stripe.com',
      'target_path', '/v1/charges', 'credential_ref', 'PAYMENTS_KEY'))).*
    from audit_logs as created, generate_series(1, 70) as n where action = 'workspace.created'`
}

/** One request of an import has one record for each secret. */
async function insertImport() {
  await stage.app.connection.sql`
    insert into audit_logs select (jsonb_populate_record(created, jsonb_build_object(
      'id', gen_random_uuid(), 'timestamp', now() - interval '30 seconds' - n * interval '1 millisecond',
      'action', case when n % 3 = 0 then 'secret.updated' else 'secret.created' end,
      'environment', 'production', 'credential_ref', 'KEY_' || n,
      'resource', jsonb_build_object('type', 'secret', 'id', null, 'name', 'KEY_' || n)))).*
    from audit_logs as created, generate_series(1, 59) as n where action = 'workspace.created'`
}

const grid = () => ada.page.getByRole('grid', { name: 'Events' })
const row = (text: string) => grid().getByRole('row').filter({ hasText: text })
const inspector = (name: string) => ada.page.getByRole('region', { name })
const chart = () => ada.page.getByRole('slider', { name: 'Calls by day' })

async function search(text: string, option: string) {
  const { page } = ada
  await page.keyboard.press('/')
  await page.keyboard.type(text)
  await page.getByRole('option', { name: option }).first().waitFor()
  await page.keyboard.press('Enter')
}

test('a new workspace shows its own creation in words, with no code, and an empty chart', async () => {
  const { page } = ada
  await ada.sees('Audit log')
  await row('Created workspace').getByText('Signed').waitFor()
  await page.getByText('0 calls').waitFor()
  expect(await page.getByRole('main').textContent()).not.toContain('workspace.created')
  await ada.judge()
})

test('calls and an import are rows by day, and the import is one row that opens its list and JSON', async () => {
  const { page } = ada
  await insertCallsOfAWeek()
  await insertImport()
  await page.reload()
  await page.getByText('70 calls').waitFor()
  await page.getByText('Refused 7').waitFor()
  await row('api.stripe.com/v1/charges').first().waitFor()
  expect(await row('Today, ').count()).toBe(1)
  const time = row('Imported secrets').locator('time')
  expect(await time.getAttribute('title')).toMatch(/\d:\d\d:\d\d.*(UTC|GMT)/)
  await ada.judge()
  await ada.picture('audit')
  await row('59 secrets').click()
  await inspector('Imported secrets').getByRole('listitem').nth(58).waitFor()
  await inspector('Imported secrets').getByText('Record as JSON').click()
  await inspector('Imported secrets').getByRole('button', { name: 'Copy JSON' }).waitFor()
  const json = await inspector('Imported secrets').locator('pre').textContent()
  expect(JSON.parse(json ?? '')).toHaveLength(59)
  await ada.judge()
  await page.reload()
  await inspector('Imported secrets').waitFor()
  await page.keyboard.press('Escape')
  await inspector('Imported secrets').waitFor({ state: 'detached' })
  expect(page.url()).not.toContain('open=')
})

test('a search adds a chip, and the chart and the list follow every filter in the address', async () => {
  const { page } = ada
  await search('deploy', 'deploy-bot')
  await page.getByRole('button', { name: 'Remove Agent: deploy-bot' }).waitFor()
  await row('Created workspace').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Result' }).click()
  await page.getByRole('menuitemradio', { name: 'Refused' }).click()
  await page.getByText('7 calls').waitFor()
  await page.getByText('Allowed 0', { exact: true }).waitFor()
  expect(page.url()).toContain('actor=deploy-bot')
  expect(page.url()).toContain('decision=blocked')
  await page.reload()
  await page.getByText('7 calls').waitFor()
  await page.getByRole('button', { name: 'Remove Result: Refused' }).click()
  await page.getByText('70 calls').waitFor()
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await row('Created workspace').waitFor()
  await search('changed a sec', 'Changed a secret')
  await page.getByText('19 events').first().waitFor()
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
})

test('days of the chart become the period, with the keyboard and with the pointer', async () => {
  const { page } = ada
  await chart().focus()
  for (const key of ['End', 'Shift+ArrowLeft', 'Enter']) await page.keyboard.press(key)
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
  await page.waitForURL(`**since=${day(1)}&until=${day(0)}*`)
  expect(await chart().getAttribute('aria-valuemax')).toBe('1')
  await page.goBack()
  await page.getByText('70 calls').waitFor()
  const box = await chart().boundingBox()
  if (!box) throw new Error('the chart is not shown')
  const middleOf = (at: number) => [box.x + ((at + 0.5) / 14) * box.width, box.y + 20] as const
  await page.mouse.move(...middleOf(10))
  await page.mouse.down()
  await page.mouse.move(...middleOf(12))
  await page.mouse.up()
  await page.waitForURL(`**since=${day(3)}&until=${day(1)}*`)
  await page.getByRole('button', { name: /^Period: / }).click()
  await page.getByRole('menuitemradio', { name: 'Last 7 days' }).click()
  await page.waitForURL('**period=7d*')
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
})

test('a refused call opens as facts, and the Escape key returns the focus to the list', async () => {
  const { page } = ada
  await row('Refused').first().getByRole('rowheader').focus()
  await page.keyboard.press('Enter')
  const opened = inspector('POST api.stripe.com')
  await opened.getByText('is not an allowed host').waitFor()
  expect(await opened.getByText('domain_blocked').first().isVisible()).toBe(false)
  await ada.judge()
  await page.keyboard.press('Escape')
  await opened.waitFor({ state: 'detached' })
  expect(await page.evaluate(() => document.activeElement?.closest('[role="grid"]') !== null)).toBe(
    true,
  )
})

test('the export has every matching record as JSON lines or CSV', async () => {
  const { page } = ada
  const exported = async (format: string) => {
    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByRole('menuitem', { name: format }).click()
    return readFileSync(await (await saving).path(), 'utf8')
      .trim()
      .split('\n')
  }
  const lines = await exported('JSON lines')
  expect(lines.map((line) => JSON.parse(line).action)).toContain('workspace.created')
  expect(await exported('CSV')).toHaveLength(lines.length + 1)
})

test('an empty search is reported, and an inspector lists the people and tokens with access to the secret', async () => {
  const { page } = ada
  await search('STRIPE_KEY', 'STRIPE_KEY')
  await page.getByText('No matching events').waitFor()
  expect(page.url()).toContain('credential=STRIPE_KEY')
  await page.getByRole('button', { name: 'People and tokens with access' }).click()
  const seen = inspector('Access to STRIPE_KEY')
  await seen.getByRole('listitem').filter({ hasText: ada.email }).waitFor()
  await seen.getByText('Limits of this list').click()
  await seen.getByText('It can’t show who copied a value.').waitFor()
  await ada.judge()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await row('Created workspace').waitFor()
})

test('a phone has two-line rows, a full-page inspector and every filter in one menu', async () => {
  const { page } = ada
  await page.setViewportSize({ width: 390, height: 844 })
  await row('59 secrets').click()
  const opened = inspector('Imported secrets')
  expect((await opened.boundingBox())?.width).toBe(390)
  await ada.judge()
  await opened.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Filter and export' }).click()
  await page.getByRole('menuitem', { name: 'Show oldest first' }).click()
  await page.waitForURL('**order=oldest*')
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await ada.judge()
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('thirteen rows of two days are whole at 1280 × 800, below a chart of 100 pixels', async () => {
  const { page, workspaceId } = ada
  await page.goto(`${stage.origin}/console/w/${workspaceId}/audit?actor=deploy-bot`)
  await page.getByText('70 calls').waitFor()
  await row('Yesterday, ').waitFor()
  const boxes = await grid()
    .locator('[data-row]:not([data-row="-1"])')
    .evaluateAll((rows) =>
      rows.map((each) => each.getBoundingClientRect()).map(({ top, bottom }) => ({ top, bottom })),
    )
  expect(boxes[0]?.top).toBeLessThanOrEqual(347)
  expect(boxes.filter(({ bottom }) => bottom <= 800).length).toBeGreaterThanOrEqual(13)
  expect((await page.getByRole('slider').boundingBox())?.height).toBe(100)
})

test('the lines between rows reach the right edge, and a scrollbar moves no column', async () => {
  await row('Yesterday, ').waitFor()
  const measure = () =>
    grid().evaluate((element) => {
      const rightOf = (selector: string) =>
        element.querySelector(selector)?.getBoundingClientRect().right ?? 0
      const edge = element.getBoundingClientRect().left + element.clientWidth
      return {
        gap: edge - rightOf('[data-row="0"]'),
        result: rightOf('[data-row="0"] > :last-child'),
      }
    })
  const { gap, result } = await measure()
  expect(gap).toBe(0)
  // The browser of the tests draws no scrollbars: a border takes the same room.
  await grid().evaluate((element) => {
    element.style.borderRight = '8px solid'
  })
  expect(await measure()).toEqual({ gap: 0, result })
  await grid().evaluate((element) => {
    element.style.borderRight = ''
  })
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
      await page.locator('[role="grid"] [data-row="0"], .table tbody tr').first().waitFor()
      expect([width, path, await page.evaluate(brokenWords)]).toEqual([width, path, []])
    }
  }
})

/** Runs in the page: words of tables that are on more than one line. */
function brokenWords(): string[] {
  const broken = new Set<string>()
  const texts = document.createTreeWalker(
    document.querySelector('[role="grid"], .table') ?? document.body,
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
