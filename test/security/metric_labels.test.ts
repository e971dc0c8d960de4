// tier: quick
/**
 * Series of /metrics stay in memory forever, and in Prometheus too. Whatever callers and APIs send, their number is
 * fixed: a new value is counted in a shared label.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { STATUS_CODES } from 'node:http'
import { parseExposition } from '../features/metrics/exposition.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { forwardAs } from '../support/forward.ts'
import { rawRequest, sendRaw } from '../support/raw_http.ts'
import { answerOf } from '../support/upstream.ts'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await openStage({
    env: { ADMIN_PORT: '0', RATE_TOKEN: '10000/1', RATE_API: '10000/1', RATE_REGISTER: '100/1' },
  })
  agent = await createAgentWithToken(stage, { secrets: { KEY: 'a value' } })
})
afterAll(() => stage.stop())

/** The label values of each of the product's metric families. */
async function valuesOfLabels(): Promise<Record<string, string[]>> {
  const families = parseExposition(await (await fetch(`${stage.app.admin}/metrics`)).text())
  const all = [...families].flatMap(([family, { samples }]) =>
    samples.flatMap(({ labels }) =>
      Object.entries(labels).map(([label, value]) => ({ name: `${family} ${label}`, value })),
    ),
  )
  return Object.fromEntries(
    Object.entries(Object.groupBy(all, ({ name }) => name)).map(([name, found = []]) => [
      name,
      [...new Set(found.map(({ value }) => value))].sort(),
    ]),
  )
}

const ROUNDS = 6
/** The runtime answers others itself. */
const OTHER_METHODS = ['PROPFIND', 'MKCOL', 'LOCK', 'UNLOCK', 'COPY', 'MOVE']

/** Everything that a sender chooses in a request, different each time. */
async function callWithWhatIsNew(round: number): Promise<void> {
  const word = `new${round}x${Bun.randomUUIDv7().slice(-6)}`
  const method = OTHER_METHODS[round] ?? ''
  const resolve = (more: object) =>
    agent.resolve({ target_url: stage.url(`/${word}?${word}=${word}`), ...more })
  await resolve({ method })
  await resolve({ method: word })
  await resolve({ headers: { [word]: 'SVC_SECRET_KEY' } })
  await resolve({ headers: { 'X-Key': `SVC_SECRET_${word.toUpperCase()}` } })
  await resolve({ target_url: `https://${word}.example/` })
  await resolve({ target_url: `${word}://x` })
  await resolve({ [word]: word })
  await forwardAs(stage, agent, `/${word}`, { method })
  await forwardAs(stage, { token: word }, `/${word}`)
  const { controlPlane, resolver, admin } = stage.app
  for (const origin of [controlPlane, resolver, admin ?? '']) {
    const headers = { host: `${word}.example`, 'user-agent': word, authorization: `Bearer ${word}` }
    for (const path of [
      `/${word}`,
      `/api/workspaces/${word}/`,
      '/api/status/health/',
      '/v1/resolve',
    ])
      await fetch(`${origin}${path}`, { headers })
    for (const path of ['/v1/resolve', '/v1/credentials/', '/api/workspaces/'])
      await sendRaw(
        origin,
        rawRequest(`${method} ${path} HTTP/1.1`, ['Host: localhost', 'Connection: close']),
      )
    await fetch(`${origin}/${word}`, { headers: { 'X-Request-Id': word } })
  }
  await createAgentWithToken(stage, { secrets: { [word.toUpperCase()]: word } })
}

test('new values that callers choose give no label a new value', async () => {
  for (const round of [0, 1]) await callWithWhatIsNew(round)
  await stage.app.flushAudit()
  const before = await valuesOfLabels()
  for (let round = 2; round < ROUNDS; round += 1) await callWithWhatIsNew(round)
  expect(await valuesOfLabels()).toEqual(before)
})

test('answers of APIs add only the registered statuses, and one value for each class of others', async () => {
  const known = new Set<string>()
  for (let status = 200; status < 600; status += 1) {
    stage.upstream.on(`/${status}`, answerOf(status, {}, ''))
    const answer = await forwardAs(stage, agent, `/${status}`)
    expect(answer.status).toBe(status)
    await answer.body?.cancel()
    known.add(status in STATUS_CODES ? String(status) : `${String(status)[0]}xx`)
  }
  const seen = (await valuesOfLabels())['cloakroom_http_requests_total status'] ?? []
  expect([...known].filter((status) => !seen.includes(status))).toEqual([])
  expect(seen.filter((status) => !known.has(status))).toEqual([])
  expect(seen.filter((status) => status.endsWith('xx'))).toEqual(['2xx', '3xx', '4xx', '5xx'])
})
