// tier: quick
/** The token parser and the JSON guard: saved inputs, and a fuzzer's variations of them. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatToken, parseToken } from '../../src/core/crypto/token.ts'
import { Fault } from '../../src/core/fault.ts'
import { readExactly } from '../../src/http/json/read.ts'
import bodies from '../corpus/json/bodies.json' with { type: 'json' }
import { mutated } from '../corpus/mutated.ts'
import tokens from '../corpus/tokens/tokens.json' with { type: 'json' }

const RUNS = { numRuns: 2000 }

describe('tokens', () => {
  test.each(tokens)('$name', ({ text, kind }) => {
    expect(parseToken(text)?.kind).toBe(kind as never)
  })

  test('the parser accepts only values that the serializer would write, whatever the mutation', () => {
    const saved = tokens.map(({ text }) => text)
    fc.assert(
      fc.property(mutated(saved), (text) => {
        const token = parseToken(text)
        if (token) expect(formatToken(token.kind, token.id, token.secret)).toBe(text)
      }),
      RUNS,
    )
  })
})

describe('JSON bodies', () => {
  test.each(bodies)('$name', ({ text, accepted }) => {
    expect(attempt(text) !== REFUSED).toBe(accepted)
  })

  test('any mutated body is rejected, or read the way JSON.parse reads it', () => {
    const saved = bodies.map(({ text }) => text)
    fc.assert(
      fc.property(mutated(saved), (text) => {
        const read = attempt(text)
        if (read !== REFUSED) expect(read).toEqual(JSON.parse(text))
      }),
      RUNS,
    )
  })

  test('every value without forbidden keys and of bounded depth is accepted unchanged', () => {
    const value = fc
      .jsonValue({ maxDepth: 8 })
      .filter((json) => !/__proto__|constructor/.test(JSON.stringify(json)))
    fc.assert(
      fc.property(value, (json) => {
        expect(attempt(JSON.stringify(json))).toEqual(JSON.parse(JSON.stringify(json)))
      }),
      { numRuns: 500 },
    )
  })

  test('any bytes are rejected or read, and no other error is thrown', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        attempt(bytes)
      }),
      RUNS,
    )
  })
})

const REFUSED = Symbol('refused')

function attempt(given: string | Uint8Array): unknown {
  try {
    return readExactly(typeof given === 'string' ? new TextEncoder().encode(given) : given).value
  } catch (error) {
    if (error instanceof Fault && error.code === 'malformed_json') return REFUSED
    throw error
  }
}
