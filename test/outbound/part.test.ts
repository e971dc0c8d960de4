// tier: quick
/** Parts of objects: requested with their surroundings, searched, and cut out again (protocol 6.1). */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { prepareGuard } from '../../src/leak_guard/index.ts'
import {
  cutBytes,
  cutOf,
  cutPieces,
  formatSentRange,
  readPart,
} from '../../src/outbound/answer/part.ts'
import { CredentialGuard, PART } from '../../src/outbound/guard.ts'
import { ENCODINGS, ESCAPES } from '../leak_guard/forms.ts'

const VALUE = 'sk_live_0123456789abcdefghijkLMNOP'
const FORMS = [
  VALUE,
  `xx${Buffer.from(`pad${VALUE}`).toString('base64')}==`,
  Buffer.from(VALUE).toString('hex'),
  [...VALUE].map((char) => `\\u00${char.charCodeAt(0).toString(16)}`).join(''),
  `[${[...Buffer.from(VALUE)].join(', ')}]`,
  `{"a":"${VALUE}"}`,
  VALUE.slice(3, 25),
]
const prepared = prepareGuard([{ name: 'KEY', bytes: Buffer.from(VALUE) }])
const openGuard = () => new CredentialGuard({ prepared, used: [], made: [] }, async () => {})

/** An upstream's answer to a `Range`. */
function answerOf(object: Uint8Array, range: string) {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? []
  const size = object.length
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(size - 1, Number(to))
  if (first >= size) return { status: 416, bytes: object.subarray(0, 0), headers: {} }
  const headers = { 'content-range': `bytes ${first}-${last}/${size}` }
  return { status: 206, bytes: object.subarray(first, last + 1), headers }
}

async function asked(object: Uint8Array, range: string, chunk = 10_000) {
  const part = readPart(range)
  if (!part) throw new Error('no part')
  const { status, bytes, headers } = answerOf(object, formatSentRange(part))
  const cut = cutOf(part, status, headers)
  if (!cut) return null
  const whole = cutBytes(await openGuard().redactBody(bytes, PART), cut)
  const guard = openGuard().openStream(PART)
  const guarded = async function* () {
    for (let at = 0; at < bytes.length; at += chunk) {
      yield* guard.push(bytes.subarray(at, at + chunk))
    }
    yield guard.flush()
  }
  const streamed = Buffer.concat(await Array.fromAsync(cutPieces(guarded(), cut)))
  expect(streamed.equals(whole)).toBe(true)
  return { cut, text: streamed.toString('latin1') }
}

const object = fc
  .array(
    fc.tuple(
      fc.constantFrom(...FORMS),
      fc.integer({ min: 0, max: 20_000 }),
      fc.constantFrom(' ', 'a', '{', '%', '=', '\\', '\n'),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((pieces) =>
    Buffer.from(pieces.map(([form, gap, char]) => `${char.repeat(gap)}\n${form}\n`).join('')),
  )

test('the joined parts equal the whole with overwritten matches, wherever they are cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      object,
      fc.array(fc.nat(), { maxLength: 4 }),
      fc.nat(),
      async (bytes, at, n) => {
        const whole = Buffer.from(await openGuard().redactBody(bytes, PART)).toString('latin1')
        expect(whole.length).toBe(bytes.length)
        // One of the cuts is within a value.
        const inside = (bytes.indexOf(FORMS[0] ?? '') + (n % 30)) % bytes.length
        const cuts = [...at.map((one) => one % bytes.length), Math.max(1, inside), bytes.length]
        let from = 0
        let all = ''
        for (const to of cuts.sort((a, b) => a - b)) {
          if (to <= from) continue
          all += (await asked(bytes, `bytes=${from}-${to - 1}`))?.text
          from = to
        }
        expect(all).toBe(whole)
        expect(all).not.toContain(VALUE.slice(0, 16))
      },
    ),
    { numRuns: 25 },
  )
})

/** Other writers use a longer text with the value in it: the surroundings begin anywhere in its digits. */
const { base32 = String, base64 = String, hexadecimal = String } = ENCODINGS
const lines =
  (write: (text: string) => string, width: number, end: string) =>
  (text: string): string =>
    write(text)
      .match(new RegExp(`.{1,${width}}`, 'g'))
      ?.join(end) ?? ''
const WRITTEN: Record<string, (text: string) => string> = {
  ...ESCAPES,
  ...ENCODINGS,
  'base32 in lines': lines(base32, 76, '\r\n'),
  'base64 in long lines': lines(base64, 76, '\r\n'),
  'hexadecimal in lines': lines(hexadecimal, 60, '\n'),
  'base32 of base64': (text) => base32(base64(text)),
  'base64 of base32': (text) => base64(base32(text)),
  'base64 in lines of base32': (text) => lines(base64, 76, '\n')(base32(text)),
}
const filler = Array.from({ length: 3000 }, (_, at) => `some ${at} `).join('')

describe('bytes that are overwritten in an object are overwritten in every part of it', () => {
  test.each(Object.entries(WRITTEN))('%s', async (_, write) => {
    const bytes = Buffer.from(`(${write(`${filler}${VALUE}${filler}`)})`)
    const whole = Buffer.from(await openGuard().redactBody(bytes, PART)).toString('latin1')
    const first = whole.indexOf('****')
    expect(first).toBeGreaterThan(20_000)
    const last = first + 20
    for (let from = first - 4; from < first + 5; from++) {
      const part = await asked(bytes, `bytes=${from}-${last}`)
      expect(part?.text).toBe(whole.slice(from, last + 1))
    }
  })
})

describe('the requested part is the answered part', () => {
  const text = Array.from({ length: 10_000 }, (_, at) => `line ${at}\n`).join('')
  const bytes = Buffer.from(text)
  const { length } = bytes

  test.each([
    ['bytes=0-0', 0, 1],
    ['bytes=5-', 5, length],
    ['bytes=-7', length - 7, length],
    ['bytes=20000-20001', 20_000, 20_002],
    ['bytes=50000-999999', 50_000, length],
    ['bytes=-999999', 0, length],
    [' BYTES=30000-30010 ', 30_000, 30_011],
  ])('%s', async (range, from, to) => {
    const given = await asked(bytes, range)
    expect(given?.text).toBe(text.slice(from, to))
    expect(given?.cut).toMatchObject({
      status: 206,
      headers: {
        'content-range': `bytes ${from}-${to - 1}/${length}`,
        'content-length': String(to - from),
      },
    })
  })

  test.each([`bytes=${length}-`, `bytes=${length + 5}-${length + 9}`, 'bytes=-0'])(
    '%s lies after the end, in the wording of S3',
    async (range) => {
      const given = await asked(bytes, range)
      expect(given?.cut.status).toBe(416)
      expect(given?.cut.headers['content-range']).toBe(`bytes */${length}`)
      expect(given?.text).toContain('<Code>InvalidRange</Code>')
    },
  )

  test('an answer that is not a part stays unchanged', async () => {
    const part = readPart('bytes=0-1') ?? { count: 0 }
    expect(cutOf(part, 200, {})).toBeNull()
    expect(cutOf(part, 416, {})).toBeNull()
    expect(await asked(bytes, `bytes=${length + 20_000}-`)).toBeNull()
  })
})

test.each(['bytes=', 'bytes=-', 'bytes=2-1', 'bytes=0-1,3-4', 'bytes=a-b', 'rows=1-2', ''])(
  '%p is not a part',
  (range) => {
    expect(readPart(range)).toBeNull()
  },
)

test.each([
  [{ 'content-range': 'bytes 0-99/1000' }],
  [{ 'content-range': 'bytes 10-999/1000' }],
  [{ 'content-range': 'bytes 0-999/*' }],
  [{ 'content-range': 'bytes 0-999/1000', 'content-encoding': 'gzip' }],
  [{ 'content-range': 'bytes 0-999/1000', 'content-length': '999' }],
  [{}],
])('another part than the requested one, or an unreadable one, is rejected: %p', (headers) => {
  const part = readPart('bytes=5-20') ?? { count: 0 }
  expect(() => cutOf(part, 206, headers)).toThrow()
  expect(cutOf(part, 206, { 'content-range': 'bytes 0-999/1000' })).toMatchObject({ skip: 5 })
})
