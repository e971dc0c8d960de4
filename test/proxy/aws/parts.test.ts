// tier: quick
/** Uploads and downloads in parts, which S3 clients make of large objects, behind either proxy. */
import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import { API } from '../../support/agent.ts'
import { marked } from '../../support/canary.ts'
import { answerOf } from '../../support/upstream.ts'
import { openProxyStage } from '../stage.ts'
import { startAws } from './upstream.ts'

const ID = 'AKIAIOSFODNN7EXAMPLE'
const SECRET = marked('wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY')
const GUARDED = marked('guarded-value-')
const REGION = 'eu-central-1'

const stage = await openProxyStage()
const aws = await startAws(stage.authority, { names: [API], id: ID, secret: SECRET })
afterAll(async () => {
  await aws.stop()
  await stage.stop()
})
const host = `${API}:${aws.port}`
await stage.agent.allow(host)
await stage.agent.store('AWS_ACCESS_KEY_ID', ID)
await stage.agent.store('AWS_SECRET_ACCESS_KEY', SECRET)
await stage.agent.store('GUARDED', GUARDED)
const proxies = {
  local: await stage.open('local', { standIns: true }),
  remote: await stage.open('remote', { standIns: true }),
}

type Asked = { method?: string; headers?: Record<string, string>; body?: Uint8Array }

const NO_SIGNATURE = '0'.repeat(64)
const inChunks = (data: Uint8Array, size: number, trailer: string) => {
  const pieces: Uint8Array[] = []
  for (let at = 0; at <= data.length; at += size) {
    const piece = data.subarray(at, at + size)
    const head = `${piece.length.toString(16)};chunk-signature=${NO_SIGNATURE}\r\n`
    const isLast = piece.length === 0
    pieces.push(Buffer.from(head), piece, Buffer.from(isLast ? trailer : '\r\n'))
  }
  return Buffer.concat(pieces)
}

describe.each(Object.entries(proxies))(
  'behind the %s proxy',
  (way, { url, certificate, standIns }) => {
    const signer = new SignatureV4({
      service: 's3',
      region: REGION,
      sha256: Sha256,
      uriEscapePath: false,
      applyChecksum: true,
      credentials: {
        accessKeyId: standIns.AWS_ACCESS_KEY_ID ?? '',
        secretAccessKey: standIns.AWS_SECRET_ACCESS_KEY ?? '',
      },
    })
    const send = async (place: string, { method = 'GET', headers = {}, body }: Asked = {}) => {
      const [path = '', search = ''] = place.split('?')
      const query = Object.fromEntries(new URLSearchParams(search))
      const given = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', ...headers, host }
      const unsigned = { method, protocol: 'https:', hostname: host, path, query, headers: given }
      const { host: _, ...signed } = (await signer.sign(unsigned)).headers
      return fetch(`https://${host}${place}`, {
        method,
        headers: signed,
        proxy: url,
        tls: { ca: certificate },
        ...(body ? { body: body as Uint8Array<ArrayBuffer> } : {}),
      })
    }
    const partOf = (place: string, range: string) => send(place, { headers: { range } })

    test('an object that is uploaded in concurrent parts is downloaded in concurrent parts', async () => {
      const size = 1_000_000
      const data = randomBytes(3 * size + 17)
      const place = `/bucket/${way}%20in%20parts`
      const [, id = ''] =
        /<UploadId>(.*?)</.exec(
          await (await send(`${place}?uploads=`, { method: 'POST' })).text(),
        ) ?? []
      const parts = [0, 1, 2, 3].map((at) => data.subarray(at * size, (at + 1) * size))
      await Promise.all(
        parts.map((body, at) =>
          send(`${place}?partNumber=${at + 1}&uploadId=${id}`, { method: 'PUT', body }),
        ),
      )
      expect(aws.refused).toEqual([])
      expect((await send(`${place}?uploadId=${id}`, { method: 'POST' })).status).toBe(200)
      expect(aws.objects.get(`bucket/${way} in parts`)).toEqual(data)
      const answers = await Promise.all(
        [0, 1, 2].map((at) => partOf(place, `bytes=${at * size}-${(at + 1) * size - 1}`)),
      )
      const last = await partOf(place, `bytes=${3 * size}-`)
      const bytes = await Promise.all([...answers, last].map((answer) => answer.bytes()))
      expect(Buffer.concat(bytes).equals(data)).toBe(true)
      expect(last.status).toBe(206)
      expect(Object.fromEntries(last.headers)).toMatchObject({
        'content-range': `bytes ${3 * size}-${data.length - 1}/${data.length}`,
        'content-length': '17',
        etag: '"of-the-object"',
      })
      expect(aws.refused).toEqual([])
    })

    test('a value in an object is overwritten in each part of it, and a stand-in in the whole', async () => {
      const before = 'a'.repeat(20_000)
      const text = `${before}${GUARDED}${before}`
      aws.objects.set('bucket/holds', Buffer.from(text))
      const hidden = text.replace(GUARDED, '*'.repeat(GUARDED.length))
      for (const at of [before.length, before.length + 3, before.length + GUARDED.length - 1]) {
        const answer = await partOf('/bucket/holds', `bytes=${at}-${at}`)
        expect([answer.status, await answer.text()]).toEqual([206, '*'])
      }
      const [from, to] = [before.length - 5, before.length + 8]
      const across = await partOf('/bucket/holds', `bytes=${from}-${to}`)
      expect(await across.text()).toBe(hidden.slice(from, to + 1))
      // All of it arrives with its surroundings, and so with a checksum, which is wrong by now.
      const all = await partOf('/bucket/holds', 'bytes=0-')
      expect(await all.text()).toBe(hidden)
      expect(all.headers.get('x-amz-checksum-crc32')).toBeNull()
      const whole = await send('/bucket/holds')
      expect(await whole.text()).toBe(text.replace(GUARDED, standIns.GUARDED ?? ''))
    })

    test('a part longer than the buffered bytes streams, and one beyond the end does not exist', async () => {
      const data = randomBytes(11 * 1024 * 1024)
      aws.objects.set('bucket/long', data)
      const long = await partOf('/bucket/long', 'bytes=1-')
      expect(long.headers.get('content-range')).toBe(`bytes 1-${data.length - 1}/${data.length}`)
      expect(Buffer.from(await long.bytes()).equals(data.subarray(1))).toBe(true)
      const none = await partOf('/bucket/long', `bytes=${data.length}-`)
      expect([none.status, await none.text()]).toEqual([
        416,
        expect.stringContaining('InvalidRange'),
      ])
      const head = await send('/bucket/long', { method: 'HEAD', headers: { range: 'bytes=5-9' } })
      expect([head.status, head.headers.get('content-length')]).toEqual([206, '5'])
    })

    test.each([
      ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', '\r\n'],
      [
        'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
        `x-amz-checksum-crc32c:sOO8/Q==\r\nx-amz-trailer-signature:${NO_SIGNATURE}\r\n\r\n`,
      ],
    ])('an upload as %s has each chunk signed', async (payload, trailer) => {
      const data = randomBytes(200_000)
      const headers = {
        'x-amz-content-sha256': payload,
        'x-amz-decoded-content-length': String(data.length),
        'content-encoding': 'aws-chunked',
        ...(payload.endsWith('-TRAILER') ? { 'x-amz-trailer': 'x-amz-checksum-crc32c' } : {}),
      }
      const body = inChunks(data, 50_000, trailer)
      expect((await send(`/bucket/${way}`, { method: 'PUT', headers, body })).status).toBe(200)
      expect(aws.objects.get(`bucket/${way}`)).toEqual(data)
      expect(aws.served.at(-1)?.payload).toBe(payload)
    })

    const UNSEARCHABLE = [
      ['several ranges', { range: 'bytes=0-1,4-5' }],
      ['a range in the dialect of Azure', { 'x-ms-range': 'bytes=0-1' }],
    ] as const

    test.each(UNSEARCHABLE)('GET of %s is answered with the whole object', async (_, headers) => {
      const data = Buffer.from('an object without values')
      aws.objects.set('bucket/plain', data)
      const answer = await send('/bucket/plain', { headers })
      expect([answer.status, await answer.text()]).toEqual([200, data.toString()])
      expect(aws.served.at(-1)).toMatchObject({ line: 'GET /bucket/plain', range: null })
      expect(aws.refused).toEqual([])
    })

    test.each(UNSEARCHABLE)('POST with %s is rejected before it is sent', async (_, headers) => {
      const before = aws.served.length
      const answer = await send('/bucket/plain?select=', { method: 'POST', headers })
      expect([answer.status, answer.headers.get('x-service-error')]).toEqual([
        400,
        'forbidden_header',
      ])
      expect(await answer.text()).toContain('<Code>forbidden_header</Code>')
      expect(aws.served.length).toBe(before)
    })

    test('a range outside a signed call to S3 is answered with the whole object', async () => {
      stage.upstream.on('/plain', answerOf(200, { 'accept-ranges': 'bytes' }, 'all there is'))
      const answer = await fetch(stage.url('/plain'), {
        headers: { range: 'bytes=0-1', authorization: 'Bearer SVC_SECRET_GUARDED' },
        proxy: url,
        tls: { ca: certificate },
      })
      expect([answer.status, await answer.text()]).toEqual([200, 'all there is'])
      expect(answer.headers.get('accept-ranges')).toBe('none')
      expect(stage.upstream.received.at(-1)?.header('range')).toBeUndefined()
    })
  },
)
