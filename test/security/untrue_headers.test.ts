// tier: quick
/**
 * Headers that are not true of what the caller gets are not passed on: ranges that cannot be had, and digests and
 * strong tags of bodies that were decoded or redacted (protocol 6.2).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { type Agent, employAgent, type Stage, sharedStage } from '../support/agent.ts'
import { forwardAs } from '../support/forward.ts'
import { answerOf } from '../support/upstream.ts'

const KEY = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc'
const DIGESTS = {
  digest: 'sha-256=x',
  'content-digest': 'sha-256=:x:',
  'content-md5': 'x',
  'x-goog-hash': 'md5=x',
  'x-checksum-sha256': 'x',
}

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage()
  agent = await employAgent(stage, { secrets: { KEY } })
})
afterAll(() => stage.stop())

type Shown = { status: number; headers: Record<string, string>; body: string }

/** Whole in JSON, and streamed. */
const WAYS: Record<string, (path: string, headers?: Record<string, string>) => Promise<Shown>> = {
  whole: async (path, headers = {}) => {
    const { body } = await agent.resolve({ target_url: stage.url(path), headers })
    const answer = body as { status_code: number; headers: Record<string, string>; body: string }
    return { status: answer.status_code, headers: answer.headers, body: answer.body }
  },
  streamed: async (path, headers = {}) => {
    const answer = await forwardAs(stage, agent, path, { headers })
    const body = await answer.text()
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body }
  },
}

const sent = (headers: Record<string, string>, body: string | Uint8Array) => {
  const text = { 'content-type': 'text/plain', etag: '"v1"', ...DIGESTS, ...headers }
  stage.upstream.on('/', answerOf(200, text, body))
}
const digestsIn = ({ headers }: Shown) => Object.keys(DIGESTS).filter((name) => name in headers)

describe.each(Object.entries(WAYS))('an answer that is passed on %s', (_, ask) => {
  test('keeps its digests and its tag where it is given as it came', async () => {
    sent({}, 'plain')
    const shown = await ask('/')
    expect([digestsIn(shown), shown.headers['etag']]).toEqual([Object.keys(DIGESTS), '"v1"'])
  })

  test('keeps them too where a header alone is redacted', async () => {
    sent({ 'x-key': KEY }, 'plain')
    const shown = await ask('/')
    expect(shown.headers['x-key']).toBe('SVC_SECRET_KEY')
    expect([digestsIn(shown), shown.headers['etag']]).toEqual([Object.keys(DIGESTS), '"v1"'])
  })

  test.each([
    ['redacted', {}, `it is ${KEY}`, 'it is SVC_SECRET_KEY'],
    ['decoded', { 'content-encoding': 'gzip' }, gzipSync('plain'), 'plain'],
  ] as const)('has no digests and a weak tag where it is %s', async (__, headers, body, text) => {
    sent(headers, body)
    const shown = await ask('/')
    expect([digestsIn(shown), shown.headers['etag'], shown.body]).toEqual([[], 'W/"v1"', text])
  })

  test('offers no ranges, and answers a range with all there is', async () => {
    sent({ 'accept-ranges': 'bytes' }, 'plain')
    const shown = await ask('/', { range: 'bytes=2-', 'if-range': '"v1"' })
    expect([shown.status, shown.body, shown.headers['accept-ranges']]).toEqual([
      200,
      'plain',
      'none',
    ])
    const received = stage.upstream.received.at(-1)
    expect([received?.header('range'), received?.header('if-range')]).toEqual([
      undefined,
      undefined,
    ])
  })

  test.each([
    ['gzip', new Uint8Array(), ''],
    ['br', new Uint8Array(), ''],
    ['deflate', new Uint8Array(), ''],
    ['deflate', deflateSync('plain'), 'plain'],
    ['deflate', deflateRawSync('plain'), 'plain'],
    ['deflate', deflateRawSync(''), ''],
  ] as const)('is decoded from %s, empty or not, raw or not', async (coding, body, text) => {
    sent({ 'content-encoding': coding }, body)
    expect(await ask('/')).toMatchObject({ status: 200, body: text })
  })
})
