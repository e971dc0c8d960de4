// tier: quick
/**
 * Every route drops headers that are not true for the caller's answer: ranges that it cannot have, and digests and
 * strong tags of bodies that were decoded or redacted, or that may be redacted after their headers (protocol 6.2).
 */
import { afterAll, describe, expect, test } from 'bun:test'
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { KEY, openProxyStage } from '../proxy/stage.ts'
import { forwardAs, streamAs } from '../support/forward.ts'
import { answerOf, chunked } from '../support/upstream.ts'

const DIGESTS = {
  digest: 'sha-256=x',
  'content-digest': 'sha-256=:x:',
  'content-md5': 'x',
  'x-goog-hash': 'md5=x',
  'x-checksum-sha256': 'x',
}

const stage = await openProxyStage()
afterAll(stage.stop)
const { agent } = stage
const local = await stage.open('local')
const remote = await stage.open('remote')

type Shown = { status: number; headers: Record<string, string>; body: string }
type Asked = { headers?: Record<string, string>; onHead?: () => void }
type Ask = (path: string, asked?: Asked) => Promise<Shown>

const streaming =
  (send: (path: string, headers: Record<string, string>) => Promise<Response>): Ask =>
  async (path, { headers = {}, onHead } = {}) => {
    const answer = await send(path, headers)
    onHead?.()
    const body = await answer.text()
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body }
  }
const through = ({ baseUrl }: { baseUrl: string }) =>
  streaming((path, headers) => fetch(`${baseUrl}/${stage.authorityOf()}${path}`, { headers }))

/** Every route of an answer. */
const ROUTES: Record<string, Ask> = {
  'POST /v1/resolve': async (path, { headers = {}, onHead } = {}) => {
    // All of the body arrives before its head.
    onHead?.()
    const { body } = await agent.resolve({ target_url: stage.url(path), headers })
    const answer = body as { status_code: number; headers: Record<string, string>; body: string }
    return { status: answer.status_code, headers: answer.headers, body: answer.body }
  },
  'a streamed POST /v1/resolve': streaming((path, headers) =>
    streamAs(stage, agent, { target_url: stage.url(path), headers }),
  ),
  'forward mode': streaming((path, headers) => forwardAs(stage, agent, path, { headers })),
  'the local proxy': through(local),
  'the remote proxy': through(remote),
}

const sent = (headers: Record<string, string>, body: string | Uint8Array) => {
  const text = { 'content-type': 'text/plain', etag: '"v1"', ...DIGESTS, ...headers }
  stage.upstream.on('/', answerOf(200, text, body))
}
const digestsIn = ({ headers }: Shown) => Object.keys(DIGESTS).filter((name) => name in headers)

/** More than the first piece of any stream. */
const LONG = 'plain text, '.repeat(20_000)

describe.each(Object.entries(ROUTES))('an answer through %s', (_, ask) => {
  test('an unchanged answer keeps its digests and its tag', async () => {
    sent({}, 'plain')
    const shown = await ask('/')
    expect([digestsIn(shown), shown.headers.etag]).toEqual([Object.keys(DIGESTS), '"v1"'])
  })

  test('an answer with only a redacted header keeps its digests and its tag', async () => {
    sent({ 'x-key': KEY }, 'plain')
    const shown = await ask('/')
    expect(shown.headers['x-key']).toBe('SVC_SECRET_KEY')
    expect([digestsIn(shown), shown.headers.etag]).toEqual([Object.keys(DIGESTS), '"v1"'])
  })

  test.each([
    ['redacted', {}, `it is ${KEY}`, 'it is SVC_SECRET_KEY'],
    ['decoded', { 'content-encoding': 'gzip' }, gzipSync('plain'), 'plain'],
  ] as const)(
    'an answer has no digests and a weak tag if it is %s',
    async (__, headers, body, text) => {
      sent(headers, body)
      const shown = await ask('/')
      expect([digestsIn(shown), shown.headers.etag, shown.body]).toEqual([[], 'W/"v1"', text])
    },
  )

  test('an answer with a value after the headers has no digests and a weak tag', async () => {
    const { promise: isGoingOn, resolve: goOn } = Promise.withResolvers<void>()
    const lines = Object.entries({ 'content-type': 'text/plain', etag: '"v1"', ...DIGESTS })
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    stage.upstream.on('/', async (__, wire) => {
      wire.write(`HTTP/1.1 200 OK\r\n${head}transfer-encoding: chunked\r\n\r\n`)
      wire.write(chunked([LONG]).subarray(0, -'0\r\n\r\n'.length))
      await isGoingOn
      wire.write(chunked([`it is ${KEY}`]))
    })
    const shown = await ask('/', { onHead: goOn })
    expect(shown.body).toBe(`${LONG}it is SVC_SECRET_KEY`)
    expect([digestsIn(shown), shown.headers.etag]).toEqual([[], 'W/"v1"'])
  })

  test('an answer that can be searched whole before the headers keeps its digests and its tag', async () => {
    sent({}, LONG)
    const shown = await ask('/')
    expect(shown.body).toBe(LONG)
    expect([digestsIn(shown), shown.headers.etag]).toEqual([Object.keys(DIGESTS), '"v1"'])
  })

  test('an answer offers no ranges, and a range is answered with the whole', async () => {
    sent({ 'accept-ranges': 'bytes' }, 'plain')
    const shown = await ask('/', {
      headers: { range: 'bytes=2-', 'if-range': '"v1"' },
    })
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
  ] as const)(
    'an answer is decoded from %s, empty or not, raw or not',
    async (coding, body, text) => {
      sent({ 'content-encoding': coding }, body)
      expect(await ask('/')).toMatchObject({ status: 200, body: text })
    },
  )
})
