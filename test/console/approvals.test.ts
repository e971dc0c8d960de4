// tier: all
/** An agent's call waits, and a member decides about it in a real browser. */
import { expect } from 'bun:test'
import { readSecrets } from '../../src/client/environment.ts'
import { createProposal } from '../../src/features/proposals/contract.ts'
import { requires } from '../support/requires.ts'
import { openApprover, VALUE } from './approver.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let approver: Awaited<ReturnType<typeof openApprover>>

beforeAll(async () => {
  approver = await openApprover()
})
afterAll(() => approver.close())

const card = (text: string | RegExp) => approver.page.locator('li.card').filter({ hasText: text })
const button = (name: string | RegExp) => approver.page.getByRole('button', { name })

test('a refused call is shown whole, and one press of Allow once lets the next call through', async () => {
  const { ada, page, call, world, upstream } = approver
  await ada.sees('Live requests')
  expect(await call()).toMatchObject({ status: 403, body: { error_code: 'approval_required' } })
  await page.getByRole('heading', { name: 'Waiting for you' }).waitFor()
  const request = card('deploy-bot (token default) asks to make this call.')
  for (const text of [
    `POST ${world.url('/v1/charges')}`,
    'expand: customer',
    'authorization: Bearer SVC_SECRET_STRIPE_KEY',
    'application/json, 15 bytes',
    '{"amount":1000}',
    'STRIPE_KEY in billing/production needs approval by a member',
    'Charge the test card',
  ])
    expect(await request.textContent()).toContain(text)
  await page.getByRole('link', { name: 'Live requests 1 waiting for you' }).waitFor()
  await ada.judge()
  await ada.picture('approval')
  await button(/^Allow once/).click()
  await page.getByText('Allowed. Waiting for the next call …').waitFor()
  await ada.judge()
  expect(await call()).toMatchObject({ status: 200, body: { status_code: 200, body: 'sent' } })
  await page.getByText('Allowed, and the call went through.').waitFor()
  const sent = upstream.received.at(-1)
  expect(new TextDecoder().decode(sent?.body)).toBe('{"amount":1000}')
  expect(await call()).toMatchObject({ status: 403, body: { error_code: 'approval_required' } })
})

test('a call that waits goes on by itself after one press', async () => {
  const { call, page } = approver
  const answer = call({ body: '{"amount":2000}', approval_wait_ms: 110_000 })
  await card('{"amount":2000}')
    .getByRole('button', { name: /^Allow once/ })
    .click()
  expect(await answer).toMatchObject({ status: 200, body: { body: 'sent' } })
  await page.getByText('Allowed, and the call went through.').nth(1).waitFor()
})

test('a denied request is refused, and its card is removed', async () => {
  const { call } = approver
  await card('{"amount":1000}')
    .getByRole('button', { name: /^Deny: POST/ })
    .click()
  await approver.page.getByText('Denied. The same call is refused for 1 hour.').first().waitFor()
  expect(await call()).toMatchObject({ status: 403, body: { error_code: 'approval_denied' } })
})

test('a window is the narrowest one unless changed, warns, lets other bodies through, and is revoked', async () => {
  const { ada, page, call, world } = approver
  // A list stands still while the pointer is on one of its buttons.
  await page.mouse.move(0, 0)
  await call({ body: '{"amount":3000}' })
  const request = card('{"amount":3000}')
  await request.getByRole('button', { name: /^Allow for a time/ }).click()
  const said = `Allows POST ${world.url('/v1/charges')} for 5 minutes, with any query, headers and body.`
  await request.getByText(said).waitFor()
  await ada.judge()
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await page.setViewportSize({ width: 1280, height: 800 })
  await request.getByRole('button', { name: 'Allow for 5 minutes' }).click()
  await request.getByText('Allowed for 5 minutes.').waitFor()
  expect(await call({ body: '{"amount":4000}' })).toMatchObject({ status: 200 })
  expect(await call({ body: '{"amount":5000}', method: 'PUT' })).toMatchObject({ status: 403 })
  await page.reload()
  await page.getByRole('heading', { name: 'Allowed now' }).waitFor()
  await ada.judge()
  await button(/^Revoke: deploy-bot: POST/).click()
  await page.getByText('Revoked. The next call needs a new approval.').first().waitFor()
  expect(await call({ body: '{"amount":6000}' })).toMatchObject({ status: 403 })
})

test('a request that the server changed is hidden and counted', async () => {
  const { ada, page, call, stage } = approver
  const { body } = await call({ body: '{"amount":7000}' })
  const { id } = (body as { approval: { id: string } }).approval
  await stage.app.connection
    .sql`update approvals set host = 'evil.example', digest = 'x' where id = ${id}`
  await page.reload()
  await page.getByText('1 request is hidden, because it does not verify.').waitFor()
  expect(await page.getByText('evil.example').count()).toBe(0)
  expect(await card('{"amount":7000}').count()).toBe(0)
  await ada.judge()
})

test('a proposal is accepted with a value, which may go to the proposed host only', async () => {
  const { ada, page, stage, token, there, place } = approver
  await fetch(`${stage.app.resolver}${createProposal.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      reason: 'Deploys are posted there',
      hosts: ['api.deploy.example'],
      secrets: [{ key: 'DEPLOY_KEY', description: 'A key that may create deploys' }],
    }),
  })
  const proposal = card('deploy-bot proposes a change.')
  await proposal.getByText('DEPLOY_KEY: A key that may create deploys').waitFor()
  await ada.judge()
  await proposal.getByRole('button', { name: /^Accept/ }).click()
  await proposal.getByText('You sign that every agent may send to api.deploy.example.').waitFor()
  await proposal.getByRole('button', { name: /Project$/ }).click()
  await page.getByRole('option', { name: 'billing' }).click()
  await proposal.getByRole('button', { name: /Environment$/ }).click()
  await page.getByRole('option', { name: 'production' }).click()
  const sign = proposal.getByRole('button', { name: 'Allow 1 host and store 1 secret' })
  await sign.click()
  await proposal.locator('[data-field-error]').waitFor()
  await proposal.getByLabel('Value of DEPLOY_KEY').fill(VALUE)
  await ada.judge({ reveals: true })
  await sign.click()
  await page.getByText('Accepted.').first().waitFor()
  const stored = (await readSecrets(place)).find(({ key }) => key === 'DEPLOY_KEY')
  expect(stored?.policy).toMatchObject({ allowed_domains: ['api.deploy.example'] })
  const chain = await there.chains.continued(there.workspace)
  expect([...chain.allowlist]).toContain('api.deploy.example')
})
