// tier: quick
/**
 * A connection to an upstream belongs to one token, and none is closed while a call uses it (protocol 6.2). An
 * upstream that miscounts its requests would otherwise return one caller's data to another.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import {
  type Agent,
  API,
  createAgentWithToken,
  openStage,
  resolveAs,
  type Stage,
} from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { forwardAs } from '../support/forward.ts'
import { answerOf } from '../support/upstream.ts'

let stage: Stage
let agent: Agent
let stranger: Agent

beforeAll(async () => {
  stage = await openStage({ names: ['*.many.example'], env: { RATE_TOKEN: '100000/1' } })
  agent = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_of_one') } })
  stranger = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_of_two') } })
}, 30_000)
afterAll(() => stage.stop())

/** Answers each request head, and treats the body of a POST as the beginning of the next request. */
async function startDesynchronised() {
  const wires: string[] = []
  const server = createServer(await stage.authority.issue([API]), (wire) => {
    const at = wires.push('') - 1
    let pending = ''
    wire.on('error', () => {})
    wire.on('data', (chunk) => {
      wires[at] += chunk.toString('latin1')
      pending += chunk.toString('latin1')
      for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
        const head = pending.slice(0, end)
        pending = pending.slice(end + 4)
        // The response shows the content of the request head.
        wire.write(answerOf(200, { 'content-type': 'text/plain' }, head))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { wires, port: (server.address() as AddressInfo).port, stop: () => server.close() }
}

test('an upstream that miscounts its answers never mixes two tokens, of one workspace or of two', async () => {
  const upstream = await startDesynchronised()
  try {
    const target_url = `https://${API}:${upstream.port}/`
    await agent.allow(`${API}:${upstream.port}`)
    await stranger.allow(`${API}:${upstream.port}`)
    const colleague = await agent.issue()
    await agent.provision(colleague)
    const tokens = { first: agent.token, colleague: colleague.text, stranger: stranger.token }
    const headers = (name: string) => ({
      'x-caller': `caller-${name}`,
      authorization: 'Bearer SVC_SECRET_KEY',
    })
    const answers: [name: string, text: string][] = []
    for (let round = 0; round < 4; round += 1) {
      const smuggled = `GET /smuggled-by-first-${round} HTTP/1.1\r\nX-Rest: `
      await resolveAs(stage.app.resolver, agent.token, {
        target_url,
        method: 'POST',
        headers: { ...headers('first'), 'content-type': 'text/plain' },
        body: smuggled,
      })
      for (const name of ['stranger', 'colleague'] as const) {
        const call = { target_url, headers: headers(name) }
        const answer = await resolveAs(stage.app.resolver, tokens[name], call)
        expect(answer.status).toBe(200)
        answers.push([name, JSON.stringify(answer.body)])
      }
    }
    for (const wire of upstream.wires) {
      const callers = Object.keys(tokens).filter((name) => wire.includes(`caller-${name}`))
      expect(callers.length).toBeLessThanOrEqual(1)
      expect(wire.includes('smuggled') && callers.some((name) => name !== 'first')).toBe(false)
    }
    for (const [name, text] of answers) {
      expect(text).toContain(`caller-${name}`)
      expect(text).not.toContain('smuggled')
    }
    // Each continues to use its own.
    const ofStranger = upstream.wires.filter((wire) => wire.includes('caller-stranger'))
    expect(ofStranger).toHaveLength(1)
  } finally {
    upstream.stop()
  }
})

test('a running call is not ended by calls to 300 other host names', async () => {
  const finish = Promise.withResolvers<void>()
  const begun: Promise<void>[] = []
  for (const path of ['/slow', '/trickle']) {
    const arrived = Promise.withResolvers<void>()
    begun.push(arrived.promise)
    stage.upstream.on(path, async (_, wire) => {
      if (path === '/trickle') wire.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfirst')
      arrived.resolve()
      await finish.promise
      wire.write(path === '/trickle' ? ' last' : answerOf(200, {}, 'after all'))
    })
  }
  const slow = stranger.resolve({ target_url: stage.url('/slow') })
  const trickle = forwardAs(stage, stranger, '/trickle')
  const own = agent.resolve({ target_url: stage.url('/slow') })
  await Promise.all(begun)
  await agent.allow(`*.many.example:${stage.upstream.port}`)
  for (let at = 0; at < 300; at += 1) {
    const host = `h${at}.many.example`
    stage.names.set(host, ['127.0.0.1'])
    const { body } = await agent.resolve({ target_url: stage.url('/', host) })
    expect(body).toMatchObject({ status_code: 200 })
  }
  finish.resolve()
  expect((await slow).body).toMatchObject({ status_code: 200, body: 'after all' })
  expect((await own).body).toMatchObject({ status_code: 200, body: 'after all' })
  const streamed = await trickle
  expect(await streamed.text()).toBe('first last')
}, 60_000)
