/** A caller that goes away ends its upstream call, whichever way the answer was to come (protocol 6.2). */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Agent, employAgent, openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await openStage()
  agent = await employAgent(stage, { secrets: { KEY: marked('sk_live_caller_gone') } })
}, 30_000)
afterAll(() => stage.stop())

test('for an answer that is wrapped in JSON', async () => {
  const [arrived, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  stage.upstream.on('/never', (_, wire) => {
    wire.on('close', () => closed.resolve())
    arrived.resolve()
  })
  const caller = new AbortController()
  const call = fetch(`${stage.app.resolver}/v1/resolve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      target_url: stage.url('/never'),
      headers: { authorization: 'Bearer SVC_SECRET_KEY' },
    }),
    signal: caller.signal,
  })
  await arrived.promise
  caller.abort()
  expect(call).rejects.toThrow()
  await closed.promise
  const { sql } = stage.app.connection
  for (;;) {
    const [row] = await sql`
      select decision, reason, status_code, credential_ref from audit_logs where token_id = ${agent.tokenId}`
    if (row?.status_code) {
      expect({ ...row }).toEqual({
        decision: 'error',
        reason: 'caller_gone',
        status_code: 499,
        credential_ref: 'KEY',
      })
      return
    }
    await Bun.sleep(20)
  }
})
