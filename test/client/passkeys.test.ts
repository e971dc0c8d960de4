// tier: quick
/** The copy of a seed for a passkey (protocol 3.1): it opens with one output, in one place, for one account. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  PRF_INPUT,
  unwrapByPasskey,
  unwrapSeed,
  wrapForPasskey,
  wrapSeed,
} from '../../src/client/account/account_seed.ts'
import { type Bytes, fromBase64, toBase64, utf8 } from '../../src/core/crypto/encoding.ts'
import { hkdf } from '../../src/core/crypto/primitives.ts'
import { identityOf } from '../../src/sigchain/index.ts'

const RUNS = { numRuns: 40 }
const bytes = (minLength: number, maxLength = minLength) =>
  fc.uint8Array({ minLength, maxLength }).map((array): Bytes => new Uint8Array(array))
const key = bytes(32)
const place = fc.record({ userId: fc.uuid(), credentialId: bytes(16, 64) })

test('wrapped data opens to the same seed and keys', () =>
  fc.assert(
    fc.asyncProperty(key, key, place, async (output, seed, copy) => {
      const identity = await identityOf(seed)
      const wrapped = wrapForPasskey(output, copy, seed, identity)
      expect(fromBase64(wrapped)).toHaveLength(61)
      expect(await unwrapByPasskey(output, copy, wrapped, identity)).toEqual({ ...identity, seed })
    }),
    RUNS,
  ))

test('another output, person, credential or account opens nothing', () =>
  fc.assert(
    fc.asyncProperty(key, key, place, place, fc.nat(31), async (output, seed, copy, other, at) => {
      const identity = await identityOf(seed)
      const wrapped = wrapForPasskey(output, copy, seed, identity)
      const flipped = output.map((byte, index) => (index === at ? byte ^ 1 : byte))
      const stranger = await identityOf(seed.map((byte) => byte ^ 1))
      const refused = [
        unwrapByPasskey(flipped, copy, wrapped, identity),
        unwrapByPasskey(output, { ...copy, userId: other.userId }, wrapped, identity),
        unwrapByPasskey(output, { ...copy, credentialId: other.credentialId }, wrapped, identity),
        unwrapByPasskey(output, copy, wrapped, stranger),
      ]
      fc.pre(
        copy.userId !== other.userId &&
          toBase64(copy.credentialId) !== toBase64(other.credentialId),
      )
      for (const opened of refused) expect(await opened).toBeNull()
    }),
    RUNS,
  ))

test('a copy that was altered, shortened or made for the password opens nothing', () =>
  fc.assert(
    fc.asyncProperty(key, key, place, fc.nat(60), async (output, seed, copy, at) => {
      const identity = await identityOf(seed)
      const wrapped = fromBase64(wrapForPasskey(output, copy, seed, identity)) ?? new Uint8Array()
      const altered = wrapped.map((byte, index) => (index === at ? byte ^ 1 : byte))
      const own = hkdf(output, new Uint8Array(), 'cloakroom/v2/passkey-key')
      const ofPassword = wrapSeed(own, 'account', seed, identity)
      for (const text of [toBase64(altered), toBase64(wrapped.subarray(0, at)), ofPassword])
        expect(await unwrapByPasskey(output, copy, text, identity)).toBeNull()
      const text = toBase64(wrapped)
      expect(await unwrapSeed(own, 'account', text, identity)).toBeNull()
      expect(await unwrapByPasskey(output, copy, text, identity)).not.toBeNull()
    }),
    RUNS,
  ))

test('an output of another length is rejected', async () => {
  const seed = new Uint8Array(32).fill(1)
  const copy = { userId: Bun.randomUUIDv7(), credentialId: new Uint8Array(16) }
  const identity = await identityOf(seed)
  for (const length of [0, 16, 31, 33, 64])
    expect(() => wrapForPasskey(new Uint8Array(length), copy, seed, identity)).toThrow(RangeError)
})

test('data that this version wrapped opens in every later one, for the same input', async () => {
  expect(PRF_INPUT).toEqual(utf8('cloakroom/v2/passkey-prf'))
  const seed = new Uint8Array(32).fill(1)
  const userId = '018f3c5e-7d2a-7c31-9b0e-000000000003'
  const copy = { userId, credentialId: new Uint8Array(16).fill(3) }
  const wrapped =
    'AoU2k75vQf9ZXXyuGp0tAcoVcjjw91u6KD7U0BROk87Nq+dtTBUAGELWDVvODZKSgh7VozECpwCubqD1wQ=='
  const identity = await identityOf(seed)
  const opened = await unwrapByPasskey(new Uint8Array(32).fill(2), copy, wrapped, identity)
  expect(opened?.seed).toEqual(seed)
})
