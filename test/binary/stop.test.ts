// tier: all
/** Signals: running requests finish, decided outcomes are written, and the exit code states how it ended. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { marked } from '../support/canary.ts'
import { type Program, startProgram } from './executable.ts'
import {
  type AgentToken,
  type Customer,
  createAgent,
  enrol,
  readAudit,
} from './independent_client.ts'
import { allow, openScene, resolveAs, type Scene } from './scene.ts'

const SLOW = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nslow'

let scene: Scene
let program: Program
let customer: Customer
let agent: AgentToken

beforeAll(async () => {
  scene = await openScene()
  program = await startProgram({ env: scene.env })
  customer = await enrol(program.controlPlane)
  await customer.upload({ API_KEY: marked('sk_live_slow') })
  await allow(scene, customer)
  agent = await createAgent(customer)
}, 60_000)
afterAll(async () => {
  program.signal('SIGKILL')
  await program.ended
  await scene.close()
})

/** Makes a call whose answer the upstream holds back until `release`. */
async function callSlowly(path: string) {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  scene.upstream.on(path, async (_, wire) => {
    arrive()
    await released
    wire.write(SLOW)
  })
  const answer = resolveAs(agent, program.resolver, scene.url(path))
  answer.catch(() => {})
  await arrived
  return { answer, release }
}

async function restart(): Promise<void> {
  program = await startProgram({ env: scene.env })
  customer.moveTo(program.controlPlane)
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} lets a running request finish, writes its outcome and exits with 0`, async () => {
    const { answer, release } = await callSlowly(`/until-${signal}`)
    program.signal(signal)
    await program.until('"message":"stopping"')
    release()
    expect(await answer).toMatchObject({ status_code: 200, body: 'slow' })
    expect((await program.ended).code).toBe(0)
    await restart()
    const [newest] = await readAudit(customer)
    expect(newest).toMatchObject({
      target_path: `/until-${signal}`,
      decision: 'allowed',
      status_code: 200,
      credential_ref: 'API_KEY',
    })
  }, 60_000)
}

test('a second signal exits immediately with 1; the record exists, without an outcome', async () => {
  const { answer, release } = await callSlowly('/abandoned')
  program.signal('SIGTERM')
  await program.until('"message":"stopping"')
  program.signal('SIGTERM')
  expect((await program.ended).code).toBe(1)
  await expect(answer).rejects.toThrow()
  release()
  await restart()
  const [newest] = await readAudit(customer)
  expect(newest).toMatchObject({ target_path: '/abandoned', status_code: null })
}, 60_000)
