// tier: quick
/** Small bodies: the runtime's parser is used only for texts on which the exact reader agrees. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { z } from 'zod'
import { Fault } from '../../../src/core/fault.ts'
import { map } from '../../../src/core/validation/validate.ts'
import { type Bounds, boundsOf, unbounded } from '../../../src/http/json/bounds.ts'
import { readExactly } from '../../../src/http/json/read.ts'
import { readSmall } from '../../../src/http/json/read_small.ts'
import { resolveCall } from '../../../src/resolver/contract.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** The value from the exact reader, or undefined for an invalid body. */
function exactly(bytes: Uint8Array, bounds: Bounds): unknown {
  try {
    const { value, tooLong, cut } = readExactly(bytes, bounds)
    return tooLong.length + cut.length === 0 ? value : undefined
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}

/** Returns whether the small reader accepts a text. An accepted value must equal that of the exact reader. */
function isTaken(text: string | Uint8Array, bounds: Bounds = unbounded): boolean {
  const bytes = typeof text === 'string' ? bytesOf(text) : text
  const value = readSmall(bytes, bounds)
  if (value === undefined) return false
  // Also detects differences between equal values, such as the order of names, and -0.
  expect(Bun.inspect(value)).toBe(Bun.inspect(exactly(bytes, bounds)))
  return true
}

const someBounds = boundsOf(
  z.strictObject({
    a: z.string().max(3).optional(),
    list: z.array(z.union([z.number(), z.boolean(), z.null()])).max(2),
    map: map({ max: 2 }, z.string(), z.string()).optional(),
    open: z.object({ a: z.number() }).optional(),
  }),
)
const boundsToTry = [unbounded, someBounds, boundsOf(resolveCall.body)]

const name = fc.constantFrom('a', 'list', 'map', 'open', '', ':', '\\', '"', '\\"', 'a:', '":', 'é')
const { value: document } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 0 }), name, tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(name, tie('value'), { maxKeys: 4 }),
}))

test('the small reader agrees with the reader on generated documents, with names once and more often', () => {
  const spaces = fc.constantFrom(undefined, 1, '\t', '\r\n')
  fc.assert(
    fc.property(document, spaces, fc.array(name), fc.nat(), (value, space, more, at) => {
      const members = more.map((each) => `${JSON.stringify(each)} : "${each.length}"`)
      const text = JSON.stringify(value, null, space)
      const open = text.indexOf('{', at % text.length)
      const repeated =
        open < 0 ? text : `${text.slice(0, open + 1)}${members.join()},${text.slice(open + 1)}`
      for (const bounds of boundsToTry) {
        isTaken(text, bounds)
        isTaken(repeated, bounds)
        isTaken(`{${members.join()}}`, bounds)
      }
    }),
    { numRuns: 2000 },
  )
})

test('the small reader agrees with the reader on any text', () => {
  const piece = fc.constantFrom(
    ...['{', '}', '[', ']', '"', '\\', ':', ',', '1', '-0', 'a', ' ', 'null', '"a":', '"\\\\":'],
    ...['"\\u0061":', '"list":', '"map":{', '"__proto__":', '"constructor":', '"a\\"":', '":"'],
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
      for (const bounds of boundsToTry) isTaken(pieces.join(''), bounds)
    }),
    { numRuns: 5000 },
  )
})

test.each([
  ['a repeated key', '{"a":1,"a":2}'],
  ['a repeated key in another spelling', '{"a":1,"\\u0061":2}'],
  ['a repeated key, and a text that looks like a key', '{"a":1,"a":":"}'],
  ['a repeated key that is a colon', '{":":1,":":2}'],
  ['repeated keys that end with a backslash', '{"\\\\":1,"\\\\":2}'],
  ['__proto__', '{"a":{"__proto__":1}}'],
  ['constructor', '[{"constructor":1}]'],
  ['33 lists', '['.repeat(33) + ']'.repeat(33)],
  ['a byte order mark', '\ufeff{}'],
  ['a number of 1,025 digits', `[${'1'.repeat(1025)}]`],
  ['no JSON', '{"a":}'],
  ['nothing', ''],
])('%s is left to the reader', (_, text) => {
  expect(isTaken(text)).toBe(false)
})

test('the small reader leaves invalid UTF-8, and more than 8 KiB, to the reader', () => {
  expect(isTaken(Uint8Array.of(0x22, 0xff, 0x22))).toBe(false)
  expect(isTaken(`"${'x'.repeat(8190)}"`)).toBe(true)
  expect(isTaken(`"${'x'.repeat(8191)}"`)).toBe(false)
})

test.each([
  ['a longer text', '{"a":"four","list":[]}'],
  ['a longer list', '{"list":[1,2,3]}'],
  ['a longer map', '{"list":[],"map":{"a":"","b":"","c":""}}'],
  ['another kind', '{"list":["1"]}'],
  ['an unknown field', '{"list":[],"b":1}'],
  ['an unknown field that is not kept', '{"list":[],"open":{"a":1,"b":1}}'],
  ['a missing field', '{}'],
])('the small reader leaves a body with %s than the contract has to the reader', (_, text) => {
  expect(isTaken(text, someBounds)).toBe(false)
})

test('the small reader accepts a typical call of an agent', () => {
  const call = {
    target_url: 'https://api.example.com:8443/v1/charges?a=b',
    method: 'POST',
    headers: { authorization: 'Bearer SVC_SECRET_KEY', 'content-type': 'application/json' },
    body: '{"amount":2000,"currency":"eur","note":"a: \\"b\\""}',
    stream: null,
  }
  for (const space of [0, 2]) {
    expect(isTaken(JSON.stringify(call, null, space), boundsOf(resolveCall.body))).toBe(true)
  }
})
