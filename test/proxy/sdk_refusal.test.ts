// tier: all
/** An SDK's behaviour after a call that the local proxy rejects. */
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { otherPackages } from '../support/other_programs.ts'
import { until } from '../support/until.ts'
import { openProxyStage } from './stage.ts'

await otherPackages()
const stage = await openProxyStage()
afterAll(stage.stop)

test("Stripe's SDK reports a rejection of the local proxy as an error and does not retry", async () => {
  const { default: Stripe } = await import('stripe')
  await stage.agent.store('GET_ONLY', 'value of GET_ONLY', {
    policy: { allowed_methods: ['GET'] },
  })
  const proxy = await stage.open('local', { auditDirectory: join(stage.directory, 'waiting') })
  let requests = 0
  const through = (_: string, init: RequestInit) => {
    requests += 1
    return fetch(`${proxy.baseUrl}/${stage.authorityOf()}/charges`, init)
  }
  const httpClient = Stripe.createFetchHttpClient(Object.assign(through, fetch))
  const stripe = new Stripe('SVC_SECRET_GET_ONLY', { httpClient })
  const charge = stripe.charges.create({ amount: 1999, currency: 'eur' })
  expect(await charge.catch((error) => error)).toMatchObject({
    statusCode: 403,
    code: 'policy_blocked',
    message: expect.stringContaining('policy of the secret GET_ONLY'),
  })
  expect(requests).toBe(1)
  const records = async () =>
    (await stage.records('client')).filter(({ target_path }) => target_path === '/charges')
  await until(async () => (await records()).length > 0, { stepMs: 50 })
  expect(await records()).toHaveLength(1)
})
