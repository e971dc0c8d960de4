// tier: quick
/** Targets that need no URL parser: the result without it equals the parser's. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseTarget } from '../../src/outbound/target.ts'

function outcomeOf(text: string): unknown {
  try {
    return parseTarget(text)
  } catch (error) {
    return String(error)
  }
}

/** A scheme in capitals is never read without the parser, and has the same meaning. */
function expectSame(rest: string): void {
  expect(outcomeOf(`https://${rest}`)).toEqual(outcomeOf(`HTTPS://${rest}`))
}

const piece = fc.constantFrom(
  ...[
    'a',
    'api',
    'example',
    'com',
    'xn--',
    'xn--a',
    'a--b',
    '-',
    '0',
    '0x1f',
    '1',
    '127',
    '256',
    'A',
  ],
  ...[
    '.',
    '..',
    '...',
    '/',
    '//',
    '/.',
    '/./',
    '/../',
    ':',
    ':443',
    ':8443',
    ':443443',
    ':080',
    ':65535',
  ],
  ...[
    ':65536',
    ':0',
    '?',
    '??',
    '#',
    '%',
    '%2e',
    '%2E%2e',
    '%41',
    '@',
    '\\',
    ' ',
    '\t',
    '\n',
    "'",
    '"',
  ],
  ...[
    '<',
    '>',
    '`',
    '{',
    '}',
    '|',
    '^',
    '[',
    ']',
    '[::1]',
    ';',
    '=',
    '&',
    '+',
    '$',
    '!',
    '*',
    '(',
    ')',
    ',',
  ],
  ...[
    '~',
    '_',
    'é',
    'ß',
    '\u3002',
    '\uff0e',
    '\u00ad',
    '\ud800',
    '\0',
    '\x7f',
    '/v1/charges',
    'SVC_SECRET_A',
  ],
)

test('any URL pieces are read the same with and without the URL parser', () => {
  const rest = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(''))
  fc.assert(fc.property(rest, expectSame), { numRuns: 20_000 })
})

test('URL pieces after a valid name are read the same with and without the URL parser', () => {
  const rest = fc
    .array(piece, { maxLength: 8 })
    .map((pieces) => `api.example.com${pieces.join('')}`)
  fc.assert(fc.property(rest, expectSame), { numRuns: 20_000 })
})

test('each character in each place is read the same with and without the URL parser', () => {
  for (let code = 0; code < 0x180; code += 1) {
    const character = String.fromCharCode(code)
    for (const rest of [
      'a@b.example/',
      'a.example:8@',
      'a.example/@',
      'a.example/b@c?d',
      'a.example/?a@b',
    ]) {
      expectSame(rest.replace('@', () => character))
    }
  }
})

test('names and texts of maximum length are read the same with and without the URL parser', () => {
  for (const length of [62, 63, 64, 253, 254]) expectSame(`${'a'.repeat(length)}/`)
  for (const length of [62, 63, 64]) expectSame(`a.${'b'.repeat(length)}.example/`)
  for (const length of [1000, 1024, 1025, 8192, 8193])
    expectSame(`a.example/${'b'.repeat(length - 18)}`)
})
