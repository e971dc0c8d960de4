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

const button = (name: string | RegExp) => approver.page.getByRole('button', { name })
const inspector = (name: string | RegExp) => approver.page.getByRole('region', { name })

/** Reviews the request with a body. Requests to one path have the same name: the newest is last. */
async function review(body: string) {
  const { page } = approver
  await page.mouse.move(0, 0)
  for (;;) {
    await button(/^Review POST/)
      .last()
      .click()
    const region = inspector('Let deploy-bot use STRIPE_KEY?')
    await region.getByText('Request to send').waitFor()
    if ((await region.getByText(body).count()) > 0) return region
    await page.keyboard.press('Escape')
    await page.mouse.move(0, 0)
    await page.waitForTimeout(500)
  }
}

async function close() {
  await approver.page.keyboard.press('Escape')
  await approver.page.mouse.move(0, 0)
}

test('a refused call is shown whole, and one signature lets the next call through', async () => {
  const { ada, page, call, world, upstream } = approver
  await ada.sees('Live requests')
  expect(await call()).toMatchObject({ status: 403, body: { error_code: 'approval_required' } })
  await page.getByRole('heading', { name: 'Waiting for you' }).waitFor()
  await page.getByRole('link', { name: 'Live requests 1 waiting for you' }).waitFor()
  const request = await review('{"amount":1000}')
  for (const text of [
    'deploy-bot (token default) asks to make this call.',
    `POST ${world.url('/v1/charges')}`,
    'expand: customer',
    'authorization: Bearer SVC_SECRET_STRIPE_KEY',
    'application/json, 15 bytes',
    '{"amount":1000}',
    'STRIPE_KEY in billing / production needs approval by a member',
    'Charge the test card',
    'Only this call',
  ])
    expect(await request.textContent()).toContain(text)
  await ada.judge()
  await ada.picture('approval')
  await button('Sign and allow').click()
  await request.getByText('Allowed. Waiting for the next call…').waitFor()
  await ada.judge()
  expect(await call()).toMatchObject({ status: 200, body: { status_code: 200, body: 'sent' } })
  await request.getByText('Allowed. The call went through.').waitFor()
  const sent = upstream.received.at(-1)
  expect(new TextDecoder().decode(sent?.body)).toBe('{"amount":1000}')
  await close()
  expect(await call()).toMatchObject({ status: 403, body: { error_code: 'approval_required' } })
})

test('a waiting call continues after a signature, and a later failure changes nothing', async () => {
  const { call, page } = approver
  const answer = call({ body: '{"amount":2000}', approval_wait_ms: 110_000 })
  const request = await review('{"amount":2000}')
  await page.keyboard.press('Control+Enter')
  expect(await answer).toMatchObject({ status: 200, body: { body: 'sent' } })
  await request.getByText('Allowed. The call went through.').waitFor()
  const failed = page.waitForResponse((response) => response.status() === 500)
  await page.route('**/approvals/**', (route) => route.fulfill({ status: 500, body: '{}' }))
  await failed
  await request.getByText('Allowed. The call went through.').waitFor()
  expect(await request.getByRole('alert').count()).toBe(0)
  await page.unroute('**/approvals/**')
  await close()
})

test('a denied request is refused, and its row is removed', async () => {
  const { call, page } = approver
  await review('{"amount":1000}')
  await button('Deny').click()
  await page.getByText('Denied. The same call is refused for 1 hour.').first().waitFor()
  expect(await call()).toMatchObject({ status: 403, body: { error_code: 'approval_denied' } })
})

test('a window is the narrowest one unless changed, covers other bodies and chosen methods, and is revoked', async () => {
  const { ada, page, call, world } = approver
  await call({ body: '{"amount":3000}' })
  const request = await review('{"amount":3000}')
  await request.getByText('Calls for 5 minutes').click()
  await request
    .getByText(`POST ${world.url('/v1/charges')}, with any query, headers and body.`)
    .waitFor()
  await ada.judge()
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await page.setViewportSize({ width: 1280, height: 800 })
  const methods = request.getByRole('group', { name: 'Also allow' })
  expect(await methods.getByRole('checkbox', { checked: true }).count()).toBe(0)
  await methods.getByText('PUT', { exact: true }).click()
  await request.getByText(`POST, PUT ${world.url('/v1/charges')}, with any query`).waitFor()
  await button('Sign and allow').click()
  await request.getByText('Allowed for 5 minutes.').waitFor()
  expect(await call({ body: '{"amount":4000}' })).toMatchObject({ status: 200 })
  expect(await call({ body: '{"amount":5000}', method: 'PUT' })).toMatchObject({ status: 200 })
  expect(await call({ body: '{"amount":5000}', method: 'PATCH' })).toMatchObject({ status: 403 })
  await close()
  await page.getByText('Allowed now').first().waitFor()
  await ada.judge()
  await button(/^Revoke deploy-bot: POST, PUT/).click()
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
  await page.getByText('1 request is hidden: not verified.').waitFor()
  expect(await page.getByText('evil.example').count()).toBe(0)
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
  await approver.page.mouse.move(0, 0)
  await button('Review api.deploy.example, DEPLOY_KEY').click()
  const proposal = inspector('Accept the proposal of deploy-bot?')
  await proposal.getByText('DEPLOY_KEY: A key that may create deploys').waitFor()
  await proposal.getByText('Every agent can call new hosts.').waitFor()
  await ada.judge()
  const sign = button('Sign and accept')
  await sign.click()
  await proposal.getByText('Project: this field is required.').waitFor()
  await proposal.getByRole('button', { name: /Project/ }).click()
  await page.getByRole('option', { name: 'billing' }).click()
  await proposal.getByRole('button', { name: /Environment/ }).click()
  await page.getByRole('option', { name: 'production' }).click()
  await proposal.getByLabel('Value of DEPLOY_KEY').waitFor()
  await sign.click()
  await proposal.getByText('Value of DEPLOY_KEY: this field is required.').waitFor()
  await proposal.getByLabel('Value of DEPLOY_KEY').fill(VALUE)
  await ada.judge({ reveals: true })
  await sign.click()
  await proposal.getByText('Accepted.').waitFor()
  const stored = (await readSecrets(place)).find(({ key }) => key === 'DEPLOY_KEY')
  expect(stored?.policy).toMatchObject({ allowed_domains: ['api.deploy.example'] })
  const chain = await there.chains.readNewerLinks(there.workspace)
  expect([...chain.allowlist]).toContain('api.deploy.example')
})
