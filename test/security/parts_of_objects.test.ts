// tier: quick
/** A value in an S3 object cannot be read back in parts, whichever way they are requested (protocol 6.1). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { forwardAs, recordOfAnswer } from '../support/forward.ts'
import { answerOf } from '../support/upstream.ts'

const VALUE = marked('sk_live_0123456789')
const BEFORE = 'x'.repeat(20_000)
const OBJECT = Buffer.from(`${BEFORE}${VALUE}${BEFORE}`)

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage()
  const secrets = {
    VALUE,
    AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
    AWS_SECRET_ACCESS_KEY: marked('wJalrXUtnFEMI'),
  }
  agent = await createAgentWithToken(stage, { secrets })
  stage.upstream.on('/bucket/key', ({ header }, wire) => {
    const range = header('range')
    if (range === undefined) return void wire.write(answerOf(200, {}, OBJECT))
    const [, from = '', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(range) ?? []
    const last = Math.min(Number(to || OBJECT.length), OBJECT.length - 1)
    const headers = {
      'content-range': `bytes ${from}-${last}/${OBJECT.length}`,
      'x-amz-checksum-crc32': 'of what came',
      etag: '"an object"',
    }
    wire.write(answerOf(206, headers, OBJECT.subarray(Number(from), last + 1)))
  })
})
afterAll(() => stage.stop())

const scope = 'SVC_SECRET_AWS_ACCESS_KEY_ID/20261122/eu-central-1/s3/aws4_request'
const again = {
  authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host;range;x-amz-date, Signature=00`,
  'x-amz-date': '20261122T000000Z',
}
const sign = {
  type: 'aws-sigv4',
  access_key_id: 'SVC_SECRET_AWS_ACCESS_KEY_ID',
  secret_access_key: 'SVC_SECRET_AWS_SECRET_ACCESS_KEY',
  region: 'eu-central-1',
  service: 's3',
}
const ways: [string, object, Record<string, string>][] = [
  ['with a signature that is made again', {}, again],
  ['with a signature on request', { sign }, {}],
]
const call = (range: string, more: object, headers: Record<string, string>) => ({
  target_url: stage.url('/bucket/key'),
  headers: { ...headers, Range: range },
  ...more,
})

test.each(ways)('a value cannot be read byte by byte, %s', async (_, more, headers) => {
  const [first, last] = [BEFORE.length, BEFORE.length + VALUE.length - 1]
  for (const at of [first, first + 9, last]) {
    const { body } = await agent.resolve(call(`bytes=${at}-${at}`, more, headers))
    expect(body).toMatchObject({ status_code: 206, body: '*', redacted: true })
  }
  const { body } = await agent.resolve(call(`bytes=${first - 2}-${last + 2}`, more, headers))
  expect(body).toMatchObject({
    body: `xx${'*'.repeat(VALUE.length)}xx`,
    headers: {
      'content-range': `bytes ${first - 2}-${last + 2}/${OBJECT.length}`,
      etag: '"an object"',
    },
  })
  expect(JSON.stringify(body)).not.toContain('checksum')
})

test.each(ways)('parts without a value are returned as requested, %s', async (_, more, headers) => {
  const { body } = await agent.resolve(call('bytes=5-7', more, headers))
  expect(body).toMatchObject({ status_code: 206, body: 'xxx' })
  expect(stage.upstream.received.at(-1)?.header('range')).toBe('bytes=0-16391')
  const behind = await agent.resolve(call(`bytes=${OBJECT.length}-`, more, headers))
  expect(behind.body).toMatchObject({
    status_code: 416,
    headers: { 'content-range': `bytes */${OBJECT.length}` },
  })
})

test("parts after the end of the object do not exist, and a streamed call's record notes it", async () => {
  const headers = { ...again, range: `bytes=${OBJECT.length}-` }
  const answer = await forwardAs(stage, agent, '/bucket/key', { headers })
  expect([answer.status, await answer.text()]).toEqual([
    416,
    expect.stringContaining('InvalidRange'),
  ])
  expect(await recordOfAnswer(stage, answer)).toMatchObject({
    decision: 'allowed',
    status_code: 416,
  })
})

test('the whole object is requested for another service, or without a signature', async () => {
  const elsewhere = { sign: { ...sign, service: 'execute-api' } }
  for (const asked of [
    call('bytes=5-7', elsewhere, {}),
    call('bytes=5-7', {}, { 'x-key': 'SVC_SECRET_VALUE' }),
    call('bytes=5-7,9-9', { sign }, {}),
  ]) {
    await agent.resolve(asked)
    expect(stage.upstream.received.at(-1)?.header('range')).toBeUndefined()
  }
})

describe('a part without a requested range (S3: ?partNumber=1, of an upload that divides a value)', () => {
  const half = `${BEFORE}${VALUE.slice(0, 9)}`
  const PARTS: [string, Record<string, string>][] = [
    ['bytes', { 'content-range': `bytes 0-${half.length - 1}/${OBJECT.length}` }],
    ['of an unknown whole', { 'content-range': `bytes 0-${half.length - 1}/*` }],
    ['several', { 'content-type': 'multipart/byteranges; boundary=x' }],
  ]

  test.each(PARTS)(
    'an unrequested part is rejected, with the alternative: %s',
    async (_, headers) => {
      stage.upstream.on('/bucket/part', answerOf(206, headers, half))
      const { status, body } = await agent.resolve({ target_url: stage.url('/bucket/part'), sign })
      expect({ status, body }).toMatchObject({
        status: 502,
        body: { error_code: 'upstream_protocol_error' },
      })
      expect(JSON.stringify(body)).toContain('Request a byte range with the Range header')
      const streamed = await forwardAs(stage, agent, '/bucket/part', { headers: again })
      expect([streamed.status, await streamed.text()]).toEqual([
        502,
        expect.stringContaining('upstream_protocol_error'),
      ])
    },
  )

  test('an unrequested part is returned if it is the whole object, like the first of one part', async () => {
    const headers = { 'content-range': `bytes 0-${OBJECT.length - 1}/${OBJECT.length}` }
    stage.upstream.on('/bucket/part', answerOf(206, headers, OBJECT))
    const whole = `${BEFORE}${'*'.repeat(VALUE.length)}${BEFORE}`
    const { body } = await agent.resolve({ target_url: stage.url('/bucket/part'), sign })
    expect(body).toMatchObject({ status_code: 206, body: whole })
    const streamed = await forwardAs(stage, agent, '/bucket/part', { headers: again })
    expect([streamed.status, await streamed.text()]).toEqual([206, whole])
  })

  test('an unrequested part is returned if it has no bytes, and its head always', async () => {
    const rows = { 'content-range': '0-1/25', 'content-type': 'application/json' }
    stage.upstream.on('/rows', answerOf(206, rows, '[1,2]'))
    const { body } = await agent.resolve({ target_url: stage.url('/rows') })
    expect(body).toMatchObject({ status_code: 206, body: '[1,2]' })
    stage.upstream.on('/bucket/part', (_, wire) => {
      wire.write(`HTTP/1.1 206 X\r\ncontent-range: bytes 0-9/99\r\ncontent-length: 10\r\n\r\n`)
    })
    const head = { target_url: stage.url('/bucket/part'), method: 'HEAD', sign }
    expect((await agent.resolve(head)).body).toMatchObject({ status_code: 206, body: '' })
    const streamed = await forwardAs(stage, agent, '/bucket/part', {
      method: 'HEAD',
      headers: again,
    })
    expect([streamed.status, streamed.headers.get('content-range')]).toEqual([206, 'bytes 0-9/99'])
  })
})
