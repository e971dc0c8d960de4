// tier: all
/** Secret policies in a real browser, and the screen when the server, the session or a timer ends something. */
import { expect } from 'bun:test'
import { and, eq } from 'drizzle-orm'
import { uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import { readSecrets } from '../../src/client/environment.ts'
import { auditLogs, secrets, sessions } from '../../src/database/schema/index.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { openStage, type Person, type Stage } from './browser.ts'
import { elsewhere, shared } from './elsewhere.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage
let ada: Person
let workspaceId: string
let projectId: string
let place: Parameters<typeof readSecrets>[0]
const value = marked('sk_live_')

beforeAll(async () => {
  stage = await openStage()
  const server = stage.app.controlPlane
  ada = await stage.person('ada')
  workspaceId = await shared(server, ada.email, 'Acme')
  const { api, workspace } = await elsewhere(server, ada.email, undefined, 'Acme')
  const body = { name: 'billing', workspace_id: workspaceId }
  ;({ id: projectId } = await api.call(createProject, { body }))
  place = { api, workspace, projectId, environment: 'development' }
  const entries = Object.entries({ STRIPE_KEY: value, OTHER_KEY: marked('other_') })
  await uploadSecrets(
    place,
    entries.map(([key, text]) => ({ key, value: text, policy: undefined })),
    true,
  )
  await insertCalls()
  await ada.page.goto(`${stage.origin}/console/w/${workspaceId}/secrets`)
  await ada.sees('Secrets')
})
afterAll(async () => {
  await ada.close()
  await stage.close()
})

const button = (name: string | RegExp) => ada.page.getByRole('button', { name, exact: true })
const field = (name: string) => ada.page.getByRole('textbox', { name, exact: true })
const cell = (words: RegExp) => ada.page.getByRole('button', { name: words })
const stripe = () => cell(/^STRIPE_KEY in development/)
const tab = (name: string | RegExp) => ada.page.getByRole('tab', { name })
const check = (label: string) => ada.page.locator('label', { hasText: label })
const said = (text: string) => ada.page.locator('[data-toast]').getByText(text).first().waitFor()
const policyOf = async (key: string) =>
  (await readSecrets(place)).find((secret) => secret.key === key)?.policy

/** Changes one word of the sentence. */
async function change(word: RegExp, act: () => Promise<unknown>) {
  await button(word).click()
  await ada.judge()
  await act()
  await ada.page.keyboard.press('Escape')
  await ada.page.getByRole('dialog').waitFor({ state: 'detached' })
}

async function enter(name: string, text: string) {
  await ada.page.getByRole('combobox', { name }).fill(text)
  await ada.page.keyboard.press('Enter')
}

async function choose(name: string, option: string) {
  await ada.page.getByRole('button', { name: new RegExp(`${name}$`) }).click()
  await ada.page.getByRole('option', { name: option, exact: true }).click()
}

/** Inserts calls of the last days like the resolver's records. */
async function insertCalls(): Promise<void> {
  const call = {
    workspaceId,
    timestamp: new Date(Date.now() - 60_000),
    source: 'resolver' as const,
    identityLevel: 'agent' as const,
    agentId: 'bot',
    projectId,
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

test('the inspector shows who changed and used a secret, who may use it, and its calls', async () => {
  const { page } = ada
  await stripe().click()
  await page.getByText('1 minute ago by bot').waitFor()
  await page.getByText('Nowhere else').waitFor()
  await page.getByText('Agents can send it to any allowed host.').waitFor()
  await page.getByRole('img', { name: '4 calls in 7 days, 0 of them refused' }).waitFor()
  await ada.judge()
  await tab('Access').click()
  await page.getByText('4 calls in 30 days').waitFor()
  await page.getByRole('list', { name: 'People' }).getByText('owner · you').waitFor()
  await page.getByText('No token covers this environment.').waitFor()
  await ada.judge()
})

test('the words of a policy change it, the last calls are judged at once, and the exact change is signed', async () => {
  const { page } = ada
  await tab('Policy').click()
  await page.getByText('4 calls in 7 days: all still allowed').waitFor()
  expect(await button('Sign and save').count()).toBe(0)
  await change(/^Hosts: any allowed host/, async () => {
    await enter('Hosts', 'not a host')
    await page.getByText('Enter a host like api.example.com.').waitFor()
    await enter('Hosts', 'https://api.stripe.com/v1')
  })
  await change(/^Methods/, () => check('POST').click())
  await change(/^Paths/, () => enter('Paths', '/v1/charges'))
  await page.getByText('1 of 4 calls in 7 days would be refused').waitFor()
  const refused = page.getByRole('list', { name: 'Calls that would be refused' })
  await refused.getByText('api.stripe.com/v1/refunds/re_1').first().waitFor()
  await refused.getByText('This policy doesn’t allow the path /v1/refunds/re_1.').waitFor()
  await refused.getByText('Details').click()
  await refused.getByText('allowed_paths').waitFor()
  await page.getByText('Hosts: any allowed host').waitFor()
  await page.getByText('Hosts: api.stripe.com').waitFor()
  await ada.judge()
  await ada.picture('policy')
  await button('Sign and save').click()
  await said('Policy saved.')
  await cell(/^STRIPE_KEY in development: v2/).waitFor()
  expect(await policyOf('STRIPE_KEY')).toEqual({
    allowed_domains: ['api.stripe.com'],
    allowed_methods: ['POST'],
    allowed_paths: ['/v1/charges'],
  })
  await tab('Value').click()
  await page.getByText('Agents can send it to api.stripe.com.').waitFor()
  await button('Show STRIPE_KEY').click()
  await page.getByText(value).waitFor()
  await button('Hide STRIPE_KEY').click()
})

test('a policy needs approval by someone for a time, and such a secret is no variable', async () => {
  const { page } = ada
  await tab('Policy').click()
  await change(/^Places: header, basic auth, variable/, async () => {
    await check('variable').click()
    await check('query').click()
  })
  await change(/^Approval: no approval/, async () => {
    await choose('Approval', 'By an owner or admin')
    await choose('One approval lasts', '1 hour')
  })
  await button('Approval: an admin’s approval, up to 1 hour').waitFor()
  await change(/^Places/, async () => {
    expect(await check('variable').count()).toBe(0)
    expect(await check('signature').count()).toBe(0)
  })
  await ada.judge()
  await button('Sign and save').click()
  await cell(/^STRIPE_KEY in development: v3/).waitFor()
  const approval = { by: 'admin', ttl_seconds: 3_600 }
  expect(await policyOf('STRIPE_KEY')).toMatchObject({
    approval,
    allowed_locations: ['header', 'basic', 'query'],
  })
  await tab('Value').click()
  await page.getByText('An owner or admin approves each use.').waitFor()
})

test('rare limits are under More, and discarding restores what is stored', async () => {
  const { page } = ada
  await tab('Policy').click()
  await page.getByRole('tabpanel').locator('summary', { hasText: 'More' }).click()
  await check('Only calls that read').click()
  await change(/^Operations/, async () => {
    await enter('Operations', 'drop tables')
    await page.getByText('Enter an operation like query:viewer.').waitFor()
    await enter('Operations', 'query:viewer')
  })
  await change(/^Signing/, async () => {
    await field('Signing').fill('t={timestamp},{body}\n')
  })
  await field('Description').fill('Charges cards')
  await page.getByText('Operations: query:viewer').waitFor()
  await page.getByText('Signing: t={timestamp},{body}').waitFor()
  await ada.judge()
  await button('Discard').click()
  expect(await field('Description').inputValue()).toBe('')
  await check('Only calls that read').click()
  await field('Description').fill('Charges cards')
  await button('Sign and save').click()
  await cell(/^STRIPE_KEY in development: v4/).waitFor()
  expect(await policyOf('STRIPE_KEY')).toMatchObject({
    read_only: true,
    description: 'Charges cards',
    approval: { by: 'admin' },
  })
})

test('a version is compared without its value, restored as a new one, and the restore is undone', async () => {
  const { page } = ada
  await tab(/^Versions 4/).click()
  await button('Restore version 3…').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Same value').waitFor()
  await dialog.getByText('only for reads').waitFor()
  await ada.judge()
  await dialog.getByRole('button', { name: 'Restore version 3' }).click()
  await said('STRIPE_KEY restored from version 3.')
  await cell(/^STRIPE_KEY in development: v5/).waitFor()
  expect((await policyOf('STRIPE_KEY')) as object).not.toHaveProperty('read_only')
  await page.getByRole('button', { name: /^Undo/ }).first().click()
  await cell(/^STRIPE_KEY in development: v6/).waitFor()
  expect(await policyOf('STRIPE_KEY')).toMatchObject({ read_only: true })
})

test('one secret is copied to another environment from its inspector', async () => {
  const { page } = ada
  await cell(/^OTHER_KEY in development/).click()
  await button('Copy to…').click()
  await choose('To', 'staging')
  await page.getByRole('dialog').getByRole('button', { name: 'Copy 1 secret' }).click()
  await cell(/^OTHER_KEY in staging: same as dev/).waitFor()
})

test('several secrets get the same limits at once, and the rest of their policies stays', async () => {
  const { page } = ada
  await page.locator('label', { has: page.getByRole('checkbox', { name: 'Select all' }) }).click()
  await page.getByText('2 selected').waitFor()
  await button('Set policies…').click()
  const sheet = page.getByRole('dialog', { name: 'Set policies of 2 secrets' })
  await sheet.getByRole('button', { name: /^Methods/ }).click()
  await check('GET').click()
  await page.keyboard.press('Escape')
  await sheet.getByText('Replaces the limits of 2 secrets.').waitFor()
  await ada.judge()
  await sheet.getByRole('button', { name: 'Sign and save' }).click()
  await said('Policy of 2 secrets saved.')
  await cell(/^OTHER_KEY in development: v2/).waitFor()
  expect((await policyOf('OTHER_KEY')) as object).toHaveProperty('allowed_methods')
  expect(await policyOf('STRIPE_KEY')).toMatchObject({ read_only: true })
  await button('Clear selection').click()
})

test('a policy under which the value does not open is not shown as its policy', async () => {
  const { page } = ada
  const { db } = stage.app.connection
  const other = and(
    eq(secrets.key, 'OTHER_KEY'),
    eq(secrets.projectId, projectId),
    eq(secrets.environment, 'development'),
  )
  const [row] = await db.select({ policy: secrets.policy }).from(secrets).where(other)
  const turned = async (policy: typeof secrets.$inferInsert.policy) => {
    await db.update(secrets).set({ policy }).where(other)
    await page.reload()
  }
  await turned({ sensitive: false })
  await cell(/^OTHER_KEY in development.*Can’t decrypt/).click()
  await page.getByText('This value can’t be decrypted. Replace it.').waitFor()
  expect(await page.getByText('No, shown in logs and output').count()).toBe(0)
  await button('Close').first().click()
  await turned(row?.policy ?? null)
  await cell(/^OTHER_KEY in development: v2/).waitFor()
})

test('a shown value is hidden again after 30 seconds', async () => {
  const { page } = ada
  await stripe().click()
  await button('Show STRIPE_KEY').waitFor()
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
  await button('Replace value').click()
  await button('Save value').click()
  await page.getByText('New value: this field is required.').waitFor()
  await page.context().setOffline(true)
  await field('New value').fill(marked('typed_while_away_'))
  await button('Save value').click()
  await page.getByRole('alert').first().waitFor()
  await cell(/^STRIPE_KEY in development: v7/).waitFor()
  await page.context().setOffline(false)
  await button('Save value').click()
  await said('STRIPE_KEY saved in development.')
  await cell(/^STRIPE_KEY in development: v8/).waitFor()
  await button('Replace value').waitFor()
  await ada.judge()
})

test('an environment whose secrets were lost in the database is reported, and the others still work', async () => {
  const { page } = ada
  const lost = and(eq(secrets.environment, 'development'), eq(secrets.projectId, projectId))
  await stage.app.connection.db.delete(secrets).where(lost)
  await page.reload()
  await page.getByText('development failed verification and is hidden.').waitFor()
  await cell(/^OTHER_KEY in staging: v1/).waitFor()
  expect(await page.getByRole('columnheader', { name: 'development' }).count()).toBe(0)
  await ada.judge()
})

test('a session that ended elsewhere leads to the sign-in, and nothing of the screen is left', async () => {
  await cell(/^OTHER_KEY in staging/).click()
  await button('Replace value').click()
  await field('New value').fill(marked('typed_too_late_'))
  await stage.app.connection.db.delete(sessions).where(eq(sessions.userId, ada.userId))
  await button('Save value').click()
  await ada.sees('Sign in')
})
