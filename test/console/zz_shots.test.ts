// tier: all
import { afterAll, beforeAll, test } from 'bun:test'
import { allowHosts } from '../../src/client/actions/allowlist.ts'
import { createProposal } from '../../src/features/proposals/contract.ts'
import { openApprover, VALUE } from './approver.ts'

let a: Awaited<ReturnType<typeof openApprover>>
const shot = async (name: string) => {
  await a.page.mouse.move(0, 0)
  await a.page.waitForTimeout(400)
  await a.page.screenshot({ path: `/tmp/w/live_shots/${name}.png` })
}
beforeAll(async () => {
  a = await openApprover()
}, 120000)
afterAll(() => a.close())

test('shots', async () => {
  const { page, call, token, stage } = a
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.emulateMedia({ colorScheme: 'light' })
  await a.ada.sees('Live requests')
  await page.getByText('Live', { exact: true }).waitFor()
  await page.waitForTimeout(1500)
  await shot('empty')
  await a.store('OTHER', {})
  await a.store('KEY2', {})
  await allowHosts(a.there, ['api.github.com', 'api.stripe.com'])
  for (let i = 0; i < 20; i += 1)
    await call({
      target_url: `https://api.stripe.com/v1/charges/${i}`,
      headers: {},
      method: i % 3 ? 'GET' : 'POST',
      body: undefined,
    })
  for (let i = 0; i < 3; i += 1)
    await call({
      target_url: 'https://hooks.slack.com/services/T000/B000',
      headers: { authorization: 'Bearer SVC_SECRET_OTHER' },
    })
  await call({
    target_url: `https://api.openai.com/v1/${'x'.repeat(400)}`,
    headers: { authorization: 'Bearer SVC_SECRET_KEY2' },
  })
  await call()
  await fetch(`${stage.app.resolver}${createProposal.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      reason: 'Deploys are posted there',
      hosts: ['api.deploy.example'],
      secrets: [{ key: 'DEPLOY_KEY', description: 'A key that may create deploys' }],
    }),
  })
  await page.waitForTimeout(5000)
  await shot('busy')
  await page.getByRole('button', { name: 'Review hooks.slack.com' }).click()
  await page.waitForTimeout(1500)
  await shot('host')
  const dark = async (name: string) => {
    await page.emulateMedia({ colorScheme: 'dark' })
    await shot(`${name}-dark`)
    await page.emulateMedia({ colorScheme: 'light' })
  }
  await dark('host')
  await page.setViewportSize({ width: 390, height: 844 })
  await shot('host-390')
  await page.keyboard.press('Escape')
  await shot('busy-390')
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('button', { name: /^Review POST/ }).click()
  await page.waitForTimeout(1500)
  await shot('request')
  await page.getByText('Calls for 5 minutes').click()
  await page.waitForTimeout(300)
  await shot('request-window')
  await page.keyboard.press('Control+Enter')
  await page.waitForTimeout(2000)
  await shot('request-signed')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^Review api.deploy/ }).click()
  await page.waitForTimeout(1500)
  await shot('proposal')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Review hooks.slack.com' }).click()
  await page.getByRole('button', { name: 'Sign and allow' }).click()
  await page.waitForTimeout(1500)
  await shot('host-signed')
  await call({
    target_url: 'https://hooks.slack.com/services/T000/B000',
    headers: { authorization: 'Bearer SVC_SECRET_OTHER' },
  })
  await page.waitForTimeout(2500)
  await shot('host-passed')
  await page.keyboard.press('Escape')
  await shot('after')
  await page.locator('[role="row"]').filter({ hasText: 'api.openai.com' }).first().click()
  await page.waitForTimeout(1000)
  await shot('long-url')
  for (const [w, h] of [[1280, 800], [390, 844]] as const) {
    await page.setViewportSize({ width: w, height: h })
    await page.goto(page.url().replace(/live.*/, 'overview'))
    await page.getByRole('heading', { name: 'Recent changes' }).waitFor()
    await shot(`overview-${w}`)
    await dark(`overview-${w}`)
  }
}, 240000)
