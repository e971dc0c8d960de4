// tier: quick
/** The valid forms of a text, and the cost of rejecting others. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { z } from 'zod'
import { parseDomain } from '../../src/core/net/domain.ts'
import { isDomain, listOf } from '../../src/sigchain/fields.ts'
import { readText } from '../../src/sigchain/signed_text.ts'
import { links } from './vector_support.ts'

const [, , allowlist = { statement: '' }] = links
const text = allowlist.statement

function reasonOf(statement: string): unknown {
  try {
    return readText('link', statement)
  } catch (error) {
    return error
  }
}

describe('a text', () => {
  test('a text is read in its one spelling', () => {
    expect(reasonOf(text)).toMatchObject({ type: 'allowlist.changed', seq: 3 })
  })

  const deep = '['.repeat(32_768) + ']'.repeat(32_768)
  test.each([
    ['nests 32,768 deep', deep],
    [
      'nests in a field',
      text.replace('"remove":[]', `"remove":${'['.repeat(30_000)}${']'.repeat(30_000)}`),
    ],
    ['is 100 MB long', text + ' '.repeat(100_000_000)],
    ['has 64 KiB of characters and more bytes', text.replace('api.stripe.com', 'é'.repeat(60_000))],
    ['names the prototype', text.replace('"at"', '"__proto__":{"at":1},"at"')],
    ['names the prototype in its body', text.replace('"add"', '"__proto__":{},"add"')],
    ['has a lone surrogate', text.replace('api.', '\ud800.')],
    ['counts with minus zero', text.replace('"seq":3', '"seq":-0')],
    ['counts beyond 31 bits', text.replace('"seq":3', '"seq":2147483648')],
    ['is null', 'null'],
    ['is empty', ''],
    ['has NUL at its end', `${text}\0`],
  ])('a text is rejected when it %s', (_, statement) => {
    expect(reasonOf(statement)).toMatchObject({ name: 'Refusal', reason: 'form' })
  })

  test('an invalid text of any kind is rejected with a code', () => {
    const any = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.jsonValue().map((value) => JSON.stringify(value)),
    )
    fc.assert(
      fc.property(any, (statement) => {
        expect(reasonOf(statement)).toMatchObject({ name: 'Refusal', reason: 'form' })
      }),
    )
  })
})

describe('a list', () => {
  test('a list is read only up to its first invalid element', () => {
    let read = 0
    const even = z.number().refine((number) => {
      read++
      return number % 2 === 0
    })
    expect(listOf(even, 1).safeParse([2, 4, 5, ...Array(30_000).fill(7)]).success).toBe(false)
    expect(read).toBe(3)
    expect(listOf(even, 1).parse([2, 4])).toEqual([2, 4])
  })
})

describe('a domain', () => {
  const label = fc.stringMatching(/^[a-z0-9-]{1,64}$/)
  const name = fc.array(
    fc.oneof(label, fc.constantFrom('xn--bcher-kva', '1', '0x1', 'COM', 'ä', '')),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  const port = fc.constantFrom('', ':443', ':8443', ':0', ':65535', ':65536', ':080', ':')
  const domain = fc
    .tuple(fc.constantFrom('', '*.', '**.', '*'), name, port, fc.constantFrom('', '.', '/', ' '))
    .map(([wildcard, labels, port, end]) => wildcard + labels.join('.') + port + end)

  test('a domain is what the allowlist stores, except for lists and tables that change over time', () => {
    fc.assert(
      fc.property(fc.oneof(domain, fc.string()), (text) => {
        // Unicode and public suffixes are checked when a domain is added, not when links are verified.
        const isTimeless = !text.includes('xn--') && !text.startsWith('*.')
        const isStored = parseDomain(text)?.text === text
        if (isStored) expect(isDomain(text)).toBe(true)
        if (isTimeless) expect(isDomain(text)).toBe(isStored)
      }),
      { numRuns: 2000 },
    )
  })

  test.each(['*.example.com', '*.example.com:8443', 'localhost', 'xn--bcher-kva.example', 'a.b:1'])(
    'a valid domain is %s',
    (text) => expect(isDomain(text)).toBe(true),
  )

  test.each([
    '',
    '*',
    '*.',
    '*.com',
    'a..b',
    'a.b:443',
    '127.0.0.1',
    '[::1]',
    '1.2.3',
    'é.example',
    'A.b',
    'a.b.',
    'a.b:0',
    'a_b.c',
    'a/b',
  ])('an invalid domain is %p', (text) => expect(isDomain(text)).toBe(false))
})
