// tier: quick
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_busy') } })
})
afterAll(() => stage.stop())

test('an agent stays usable while its workspace is written to without a pause', async () => {
  const writing = { on: true }
  const writers = [1, 2, 3, 4].map(async (writer) => {
    while (writing.on) await agent.store(`WRITTEN_${writer}`, 'another value')
  })
  const statuses: number[] = []
  for (let call = 0; call < 25; call += 1) {
    const { status } = await agent.resolve({
      target_url: stage.url('/ok'),
      headers: { 'X-Key': 'SVC_SECRET_KEY' },
    })
    statuses.push(status)
  }
  writing.on = false
  await Promise.all(writers)
  expect(statuses).toEqual(statuses.map(() => 200))
})
