// tier: quick
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  deriveVerifier,
  formatSealedToken,
  formatToken,
  mintToken,
  parseToken,
  TOKEN_PATTERN,
  tokenAuth,
  tokenKeyPair,
  verifierOf,
} from '../../../src/core/crypto/token.ts'

const kinds = fc.constantFrom('agt', 'wkl', 'ses', 'ref', 'sea')
const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('a formatted token parses to the same parts', () => {
  fc.assert(
    fc.property(kinds, fc.uuid(), secrets, (kind, id, secret) => {
      expect(parseToken(formatToken(kind, id, secret))).toEqual({ kind, id, secret })
    }),
  )
})

describe('never parses', () => {
  test('random text never parses as a token', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 120 }), (text) => {
        expect(parseToken(text)).toBeNull()
        expect(parseToken(`svc_agt_${text}`)).toBeNull()
      }),
    )
  })

  test('random text of the right shape never parses as a token', () => {
    fc.assert(
      fc.property(kinds, fc.stringMatching(/^[0-9A-Za-z]{71}$/), (kind, body) => {
        expect(parseToken(`svc_${kind}_${body}`)).toBeNull()
      }),
    )
  })

  test('a token with any one character replaced never parses', () => {
    const { text } = mintToken('agt')
    fc.assert(
      fc.property(
        fc.nat(text.length - 1),
        fc.string({ minLength: 1, maxLength: 1 }),
        (at, other) => {
          fc.pre(text.charAt(at) !== other)
          expect(parseToken(text.slice(0, at) + other + text.slice(at + 1))).toBeNull()
        },
      ),
      { numRuns: 500 },
    )
  })
})

test('one pattern finds every kind of token, anywhere in a text, and nothing in ordinary text', () => {
  const { id, secret, text } = mintToken('agt')
  const all = [text, formatSealedToken(id, secret)]
  for (const kind of ['wkl', 'ses', 'ref'] as const) all.push(mintToken(kind).text)
  const log = `x${all.join('" and\n')}.`
  expect([...log.matchAll(TOKEN_PATTERN)].map(([found]) => found)).toEqual(all)
  expect('svc_agt_short svc_foo_bar'.replaceAll(TOKEN_PATTERN, '!')).not.toContain('!')
})

describe('verifying', () => {
  const { id, secret, text } = mintToken('wkl')
  const verifier = verifierOf(tokenAuth(id, secret))

  test('a token and its sealed form match one verifier', () => {
    for (const form of [text, formatSealedToken(id, secret)]) {
      const parsed = parseToken(form)
      expect(parsed && deriveVerifier(parsed)).toEqual(verifier)
    }
  })

  test('another secret, another ID or another kind does not match the verifier', () => {
    const other = mintToken('wkl')
    const wrong = [
      { kind: 'wkl', id, secret: other.secret },
      { kind: 'wkl', id: other.id, secret },
      { kind: 'sea', id, secret },
      { kind: 'wkl', id, secret: tokenAuth(id, secret) },
    ] as const
    for (const token of wrong) expect(deriveVerifier(token)).not.toEqual(verifier)
  })

  test('the sealed form does not contain the key of the envelopes', () => {
    const sealed = parseToken(formatSealedToken(id, secret))
    const pair = tokenKeyPair(id, secret)
    expect(sealed?.secret).not.toEqual(secret)
    expect(sealed?.secret).not.toEqual(pair.privateKey)
    expect(sealed && tokenKeyPair(id, sealed.secret).publicKey).not.toEqual(pair.publicKey)
  })
})

test('minted tokens differ in id and secret', () => {
  const minted = Array.from({ length: 100 }, () => mintToken('ses'))
  expect(new Set(minted.map(({ id }) => id)).size).toBe(100)
  expect(new Set(minted.map(({ secret }) => secret.toHex())).size).toBe(100)
  for (const { id, secret, text } of minted) {
    expect(parseToken(text)).toEqual({ kind: 'ses', id, secret })
  }
})

test('formatting rejects an invalid UUID and a secret that is not 32 bytes', () => {
  expect(() => formatToken('agt', 'agent', new Uint8Array(32))).toThrow(TypeError)
  const { id } = mintToken('agt')
  expect(() => formatToken('agt', id, new Uint8Array(31))).toThrow(RangeError)
})
