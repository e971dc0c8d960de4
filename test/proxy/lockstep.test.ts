// tier: quick
/**
 * Programs that send a line once the previous one was answered: request and answer stream concurrently, over
 * HTTP/1.1.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { API } from '../support/agent.ts'
import { openProxyStage } from './stage.ts'

const stage = await openProxyStage()
const { agent, app } = stage
/** Returns each line when it arrives, in the type of the request. */
const upstream = createServer(await stage.authority.issue([API]), (asked, answer) => {
  answer.writeHead(200, { 'content-type': asked.headers['content-type'] })
  asked.on('data', (line) => answer.write(line)).on('end', () => answer.end())
})
const bases: Record<string, string> = {}
const requests: ClientRequest[] = []

beforeAll(async () => {
  await once(upstream.listen(0, '127.0.0.1'), 'listening')
  const host = `${API}:${(upstream.address() as AddressInfo).port}`
  await agent.allow(host)
  // A JSON body is read whole if it may contain a value.
  await agent.store('PLACED', 'a-value-for-json', { policy: { allowed_locations: ['json'] } })
  const proxies = [await stage.open('local'), await stage.open('remote', { standIns: true })]
  bases.forward = `${app.resolver}/v1/forward/${host}`
  for (const [at, way] of ['local', 'remote'].entries()) {
    bases[way] = `${proxies[at]?.baseUrl}/${host}`
  }
})
afterAll(async () => {
  for (const asked of requests) asked.destroy()
  upstream.close()
  await stage.stop()
})

const LINES = ['{"n":1}\n', '{"n":2}\n', '{"n":3}\n']

/** The answer to each line; the next line is sent only after it. */
async function converse(way: string, type: string): Promise<string[]> {
  const headers = { 'x-service-token': agent.token, 'content-type': type }
  const asked = request(`${bases[way]}/echo`, { method: 'POST', headers })
  requests.push(asked)
  asked.write(LINES[0])
  const [answer] = await once(asked, 'response')
  const said: string[] = []
  for await (const line of answer) {
    said.push(String(line))
    const next = LINES[said.length]
    if (next) asked.write(next)
    else asked.end()
  }
  return said
}

test.each(
  ['forward', 'local', 'remote'].flatMap((way) =>
    ['application/x-ndjson', 'application/jsonl'].map((type) => [way, type] as const),
  ),
)('a line is answered before the next is sent: %s, %s', async (way, type) => {
  expect(await converse(way, type)).toEqual(LINES)
})
