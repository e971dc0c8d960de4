// tier: quick
/** Objects and parts of them: how much of an answer is read, how it is searched, and its headers (protocol 6.1). */
import { describe, expect, test } from 'bun:test'
import { BodyMemory } from '../../src/core/body_memory.ts'
import { prepareGuard } from '../../src/leak_guard/index.ts'
import type { Part } from '../../src/outbound/answer/part.ts'
import { readFirst } from '../../src/outbound/answer/read_first.ts'
import { readAnswer } from '../../src/outbound/answer/response.ts'
import { streamAnswer } from '../../src/outbound/answer/stream.ts'
import { CallDeadline } from '../../src/outbound/deadline.ts'
import { CredentialGuard } from '../../src/outbound/guard.ts'

const VALUE = 'sk_live_0123456789abcdefghijkLMNOP'
const prepared = prepareGuard([{ name: 'KEY', bytes: Buffer.from(VALUE) }])
const openBodies = () => new BodyMemory().open('workspace')
const openGuard = () => new CredentialGuard({ prepared, used: [], made: [] }, async () => {})

type Pieces = Iterable<string | Uint8Array>

/** An upstream's answer, piece by piece, and how much of it was read. */
function answered(status: number, headers: Record<string, string>, pieces: Pieces) {
  const from = pieces[Symbol.iterator]()
  const seen = { taken: 0, isCancelled: false }
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const { value, done } = from.next()
        if (done) return controller.close()
        seen.taken += 1
        controller.enqueue(new Uint8Array(Buffer.from(value)))
      },
      cancel: () => {
        seen.isCancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { response: new Response(body, { status, headers }), seen }
}

async function streamed(response: Response, part: Part | null = null) {
  const deadline = new CallDeadline(60_000)
  return await deadline.runDuring(() =>
    streamAnswer(response, {
      guard: openGuard(),
      deadline,
      requestId: 'id',
      links: null,
      credential: null,
      isHead: false,
      allowsRanges: true,
      part,
      isObject: true,
      bodies: openBodies(),
      onEnd: () => {},
    }),
  )
}

const base64Of = (text: string) => Buffer.from(text).toString('base64')
const lines = (base64Of(`${'q'.repeat(40)}${VALUE}${'r'.repeat(400)}`).match(/.{1,76}/g) ?? []).map(
  (line) => `${line}\n`,
)
const TYPES = [
  'application/x-ndjson',
  'text/event-stream',
  'application/json',
  'binary/octet-stream',
]

describe('a caller cannot choose how an object is searched (S3: ?response-content-type=…)', () => {
  test.each(TYPES)(
    'a value over two lines that arrive one by one is redacted, as %s',
    async (type) => {
      for (const length of [`${lines.join('').length}`, `${20 * 1024 * 1024}`]) {
        const headers = { 'content-type': type, 'content-length': length }
        const answer = await streamed(answered(200, headers, lines).response)
        const text = await answer.text()
        expect(Buffer.from(text.replaceAll('\n', ''), 'base64').toString('latin1')).not.toContain(
          VALUE.slice(4, 20),
        )
        expect(text).toContain('SVC_SECRET_KEY')
      }
    },
  )

  test('an answer that states that it is not encoded is scanned first like others', async () => {
    const length = lines.join('').length
    const headers = { 'content-encoding': 'identity', 'content-length': `${length}` }
    const answer = await streamed(answered(200, headers, lines).response)
    expect(answer.headers.get('content-length')).toBe(`${(await answer.bytes()).length}`)
  })
})

describe('no more of an upstream is read than the part that it announced', () => {
  const part = { first: 0, last: 3 }
  const RANGE = { 'content-range': 'bytes 0-16387/100000000000' }
  const widened = 'x y '.repeat(4097)
  const endless = (first: string) => [first, ...Array<string>(300).fill('x y '.repeat(16_384))]
  const abort = new AbortController()

  test('bytes after the announced part are not read', async () => {
    const { response, seen } = answered(206, RANGE, endless(widened))
    const answer = await streamed(response, part)
    expect([answer.status, await answer.text()]).toEqual([206, 'x y '])
    expect(seen).toEqual({ taken: 1, isCancelled: true })
    const another = answered(206, RANGE, endless(widened))
    const read = await readAnswer(
      another.response,
      openGuard(),
      abort.signal,
      { part, allowsRanges: true },
      openBodies(),
    )
    expect(read).toMatchObject({ status_code: 206, body: 'x y ' })
    expect(another.seen).toEqual({ taken: 1, isCancelled: true })
  })

  test('more bytes than announced are rejected immediately, and fewer at the end', async () => {
    for (const pieces of [endless('x'), [widened.slice(1)]]) {
      const { response, seen } = answered(206, RANGE, pieces)
      const answer = streamed(response, part)
      await expect(answer).rejects.toMatchObject({ code: 'upstream_protocol_error' })
      expect(seen.taken).toBeLessThan(3)
      const again = answered(206, RANGE, pieces)
      const read = readAnswer(
        again.response,
        openGuard(),
        abort.signal,
        { part, allowsRanges: true },
        openBodies(),
      )
      await expect(read).rejects.toMatchObject({ code: 'upstream_protocol_error' })
      expect(again.seen.taken).toBeLessThan(3)
    }
  })

  test('bytes after the announced part of a long, streamed answer are not read', async () => {
    const size = 11 * 1024 * 1024
    const chunk = 'x y '.repeat(16_384)
    const range = { 'content-range': `bytes 0-${size - 1}/${size}` }
    const count = size / chunk.length
    const { response, seen } = answered(206, range, Array<string>(count + 100).fill(chunk))
    const answer = await streamed(response, { first: 0, last: null })
    expect((await answer.bytes()).length).toBe(size)
    expect(seen).toEqual({ taken: count, isCancelled: true })
  })

  test('a length that contradicts the part is refused before anything is read', async () => {
    const { response, seen } = answered(206, { ...RANGE, 'content-length': '5' }, endless(widened))
    const answer = streamed(response, part)
    await expect(answer).rejects.toMatchObject({ code: 'upstream_protocol_error' })
    expect(seen.taken).toBe(0)
  })
})

describe('buffered bytes', () => {
  const deadline = { putOff: () => {} }
  async function* chunksOf(count: number) {
    for (let at = 0; at < count; at++) yield new Uint8Array(10).fill(at)
  }
  const numbers = (count: number) =>
    Array.from({ length: 10 * count }, (_, at) => Math.floor(at / 10))

  test('buffered bytes arrive as a whole, and are held no longer', async () => {
    const memory = new BodyMemory()
    const read = await readFirst(chunksOf(5), 50, deadline, memory.open('w'))
    expect([read instanceof Uint8Array && [...read], memory.taken]).toEqual([numbers(5), 0])
  })

  test.each([
    ['others hold too much', new BodyMemory(0), undefined],
    ['it trickles for too long', new BodyMemory(), 0],
  ])('an answer streams where %s, and arrives whole', async (_, memory, maxWait) => {
    const read = await readFirst(chunksOf(5), 50, deadline, memory.open('w'), maxWait)
    if (read instanceof Uint8Array) throw new Error('read as a whole')
    const all: number[] = []
    for (let next = await read.next(); next.value; next = await read.next()) all.push(...next.value)
    expect([all, memory.taken]).toEqual([numbers(5), 0])
  })

  test('buffered bytes are released when the answer breaks off or is cancelled', async () => {
    const memory = new BodyMemory()
    const broken = async function* () {
      yield new Uint8Array(10)
      throw new Error('broken')
    }
    const account = memory.open('w')
    await expect(readFirst(broken(), 50, deadline, account)).rejects.toThrow('broken')
    expect(memory.taken).toBe(0)
    const read = await readFirst(chunksOf(5), 50, deadline, account, 0)
    if (read instanceof Uint8Array) throw new Error('read as a whole')
    expect(memory.taken).toBeGreaterThan(0)
    await read.next()
    await read.return?.()
    expect(memory.taken).toBe(0)
  })

  test('bytes of a long answer, or one without a length, are not buffered', async () => {
    for (const length of [11 * 1024 * 1024, Number.NaN]) {
      const chunks = chunksOf(5)
      expect(await readFirst(chunks, length, deadline, openBodies())).toBe(chunks)
    }
  })
})

describe('digests of an answer', () => {
  const DIGESTS = [
    ...['repr-digest', 'digest', 'content-digest', 'content-md5', 'x-goog-hash'],
    ...['x-ms-blob-content-md5', 'x-ms-content-crc64', 'x-cos-hash-crc64ecma'],
    ...['x-oss-hash-crc64ecma', 'x-amz-checksum-crc32'],
  ]
  const digests = Object.fromEntries(DIGESTS.map((name) => [name, 'of it']))
  const left = ({ headers }: Response) => DIGESTS.filter((name) => headers.has(name))

  test('digests are dropped if the answer is cut or masked, and kept if it is unchanged', async () => {
    const range = { 'content-range': 'bytes 0-2/3' }
    const part = answered(206, { ...digests, ...range }, ['abc']).response
    expect(left(await streamed(part, { first: 0, last: 1 }))).toEqual([])
    for (const [body, kept] of [
      [VALUE, []],
      ['abc', DIGESTS],
    ] as const) {
      const headers = { ...digests, etag: '"an object"', 'content-length': `${body.length}` }
      const answer = await streamed(answered(200, headers, [body]).response)
      const tag = kept.length > 0 ? '"an object"' : 'W/"an object"'
      expect([left(answer), answer.headers.get('etag')]).toEqual([[...kept], tag])
      const read = await readAnswer(
        answered(200, headers, [body]).response,
        openGuard(),
        new AbortController().signal,
        { part: null, allowsRanges: true },
        openBodies(),
      )
      expect(DIGESTS.filter((name) => name in read.headers)).toEqual([...kept])
    }
  })
})
