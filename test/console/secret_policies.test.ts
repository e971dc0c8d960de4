// tier: all
/** Secret policies in a real browser, and the screen when the server, the session or a timer ends something. */
import { expect } from 'bun:test'
import { and, eq } from 'drizzle-orm'
import { auditLogs, secrets, sessions } from '../../src/database/schema/index.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { openStage, type Person, type Stage } from './browser.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage
let ada: Person
const value = marked('sk_live_')

beforeAll(async () => {
  stage = await openStage()
  ada = await stage.person('ada')
  const { page } = ada
  await page.getByRole('link', { name: 'Personal' }).click()
  await page.getByLabel('Name of the project').fill('billing')
  await page.keyboard.press('Enter')
  await button('Paste a .env file').click()
  await field('Lines as NAME=value').fill(`STRIPE_KEY='${value}'\nOTHER_KEY='${marked('other_')}'`)
  await button('See what would change').click()
  await button('Store 2').click()
  await page.getByText('2 created, 0 updated.').first().waitFor()
})
afterAll(async () => {
  await ada.close()
  await stage.close()
})

const button = (name: string) => ada.page.getByRole('button', { name, exact: true })
const field = (name: string) => ada.page.getByRole('textbox', { name, exact: true })
const stripe = () => ada.page.getByRole('button', { name: /^STRIPE_KEY in development/ })

const projectId = () => new URL(ada.page.url()).searchParams.get('project') ?? ''

/** Inserts calls of the last days like the resolver's records. */
async function insertCalls(): Promise<void> {
  const [, workspaceId = ''] = /\/w\/([^/]+)\//.exec(ada.page.url()) ?? []
  const call = {
    workspaceId,
    timestamp: new Date(Date.now() - 3_600_000),
    source: 'resolver' as const,
    identityLevel: 'agent' as const,
    agentId: 'bot',
    projectId: projectId(),
    environment: 'development',
    method: 'POST',
    targetUrl: 'https://api.stripe.com/v1/charges',
    targetDomain: 'api.stripe.com',
    credentialRef: 'STRIPE_KEY',
    injectionStyle: 'header',
    decision: 'allowed' as const,
    statusCode: 200,
  }
  const targetUrl = 'https://api.stripe.com/v1/refunds/re_1'
  const rows = [call, call, call, { ...call, targetUrl }]
  await stage.app.connection.db.insert(auditLogs).values(rows)
}

test('a policy is shown in words, tried on the calls of the last days, and stored with the value', async () => {
  await insertCalls()
  const { page } = ada
  await stripe().click()
  await page.getByRole('tab', { name: 'Policy' }).click()
  await page.getByText('4 calls: none would have been blocked.').waitFor()
  await page.getByText('Limit hosts').click()
  await field('Hosts, one in a line').fill('not a host')
  await page.getByText('not a host: must be in the syntax of the allowlist').waitFor()
  await ada.judge()
  await field('Hosts, one in a line').fill('api.stripe.com')
  await page.getByText('Limit methods').click()
  await page.getByText('POST', { exact: true }).click()
  await page.getByText('Limit paths').click()
  await field('Beginnings of paths, one in a line').fill('/v1/charges')
  await page.getByText('only POST to api.stripe.com/v1/charges/*').waitFor()
  await page.getByText('Of 4 calls, 1 would have been blocked:').waitFor()
  await page.getByText('1 × POST https://api.stripe.com/v1/refunds/re_1').waitFor()
  await page.getByText('does not permit this path').waitFor()
  await ada.judge()
  await ada.picture('policy')
  await button('Store the policy').click()
  await page.getByRole('button', { name: /^STRIPE_KEY in development: A v2/ }).waitFor()
  await page.getByRole('tab', { name: 'Value' }).click()
  await button('Show STRIPE_KEY').click()
  await page.getByText(value).waitFor()
  await button('Hide STRIPE_KEY').click()
})

test('several secrets get one policy at once', async () => {
  const { page } = ada
  await button('Select all shown').click()
  await page.getByText('2 selected').waitFor()
  await button('Set policy …').click()
  await page.getByText('Policy of 2 secrets in development').waitFor()
  await ada.judge()
  await button('Store the policy').click()
  await page.getByText('The policy of 2 secrets is stored.').first().waitFor()
  await page.getByRole('button', { name: /^OTHER_KEY in development: A v2/ }).waitFor()
  await button('Clear').click()
})

test('a policy under which the value does not open is not shown as its policy', async () => {
  const { page } = ada
  const { db } = stage.app.connection
  const other = and(eq(secrets.key, 'OTHER_KEY'), eq(secrets.projectId, projectId()))
  const [row] = await db.select({ policy: secrets.policy }).from(secrets).where(other)
  const turned = async (policy: typeof secrets.$inferInsert.policy) => {
    await db.update(secrets).set({ policy }).where(other)
    await page.reload()
  }
  await turned({ sensitive: false })
  await page.getByRole('button', { name: /^OTHER_KEY in development.*does not open/i }).click()
  expect(await page.getByRole('checkbox', { name: /^A setting/ }).isChecked()).toBe(false)
  await page.getByRole('button', { name: 'Close', exact: true }).first().click()
  await turned(row?.policy ?? null)
  await page.getByRole('button', { name: /^OTHER_KEY in development: A v2/ }).waitFor()
})

test('when deleting several secrets fails, the screen lists the deleted ones and can restore them', async () => {
  const { page } = ada
  await button('Select all shown').click()
  await page.route('**/STRIPE_KEY/**', (route) =>
    route.request().method() === 'DELETE' ? route.abort() : route.continue(),
  )
  await button('Delete').click()
  await page.locator('[data-dialog]').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('The server is unreachable.').waitFor()
  await page.getByText('1 secret deleted from development.').waitFor()
  await page.unrouteAll()
  await button('Cancel').click()
  await page.getByText('1 secret', { exact: true }).waitFor()
  await stripe().waitFor()
  await page.getByRole('button', { name: /^Undo/ }).click()
  await page.getByRole('button', { name: /^OTHER_KEY in development/ }).waitFor()
  await button('Clear').click()
})

test('a shown value is hidden again after 30 seconds', async () => {
  const { page } = ada
  await stripe().click()
  await page.clock.install()
  await button('Show STRIPE_KEY').click()
  await page.getByText(value).waitFor()
  await page.clock.fastForward(30_000)
  await button('Show STRIPE_KEY').waitFor()
  await ada.judge()
  await page.clock.resume()
})

test('a typed value survives an unavailable server, and is stored when the server is back', async () => {
  const { page } = ada
  await page.context().setOffline(true)
  await field('New value').fill(marked('typed_while_away_'))
  await button('Save').click()
  await page.getByText('The server is unreachable.').first().waitFor()
  await stripe().getByText('v3').waitFor()
  await page.context().setOffline(false)
  const readAgain = ['development', 'staging', 'production'].map((name) =>
    page.waitForResponse(
      (answer) => /include=value/.test(answer.url()) && answer.url().includes(name),
    ),
  )
  await button('Save').click()
  await page.getByText('STRIPE_KEY is stored in development.').waitFor()
  await Promise.all(readAgain)
  await stripe().getByText('v4').waitFor()
  await ada.judge()
})

test('an environment whose secret was lost in the database is reported, and the others still work', async () => {
  const { page } = ada
  await page.getByRole('button', { name: 'OTHER_KEY is missing in staging: set it' }).click()
  await field('Value').fill(marked('staged_'))
  await button('Save').click()
  await page.getByText('OTHER_KEY is stored in staging.').waitFor()
  const lost = and(eq(secrets.environment, 'development'), eq(secrets.projectId, projectId()))
  await stage.app.connection.db.delete(secrets).where(lost)
  await page.reload()
  await page.getByText('development is not what members of this workspace signed').waitFor()
  await page.getByText('untrusted_chain', { exact: true }).waitFor()
  await page.getByRole('button', { name: /^OTHER_KEY in staging: A v1/ }).waitFor()
  expect(await page.getByRole('columnheader').allTextContents()).toEqual([
    'Name',
    'staging',
    'production',
  ])
  await ada.judge()
})

test('a session that ended elsewhere leads to the log-in, and nothing of the screen is left', async () => {
  await ada.page.getByRole('button', { name: /^OTHER_KEY in staging/ }).click()
  await stage.app.connection.db.delete(sessions).where(eq(sessions.userId, ada.userId))
  await field('New value').fill(marked('typed_too_late_'))
  await button('Save').click()
  await ada.sees('Log in')
})
