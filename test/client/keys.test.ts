// tier: quick
import { describe, expect, test } from 'bun:test'
import {
  deriveMasterKey,
  generateRecoveryKey,
  KDF_DEFAULT,
  recoveryVerifier,
  unwrapForRecovery,
  unwrapPrivateKey,
  wrapForRecovery,
  wrapPrivateKey,
} from '../../src/client/account/keys.ts'
import { fromBase64, fromBase64Url, toBase64 } from '../../src/core/crypto/encoding.ts'
import { fingerprint } from '../../src/core/crypto/fingerprint.ts'
import { generateKeyPair } from '../support/key_pair.ts'

const salt = new Uint8Array(16).fill(4)

describe('the master key', () => {
  test('the master key is the same for passwords that look the same (NFKC), and for no others', async () => {
    const [composed, decomposed, other] = await Promise.all([
      deriveMasterKey('caf\u00e9 \ufb01', salt, KDF_DEFAULT),
      deriveMasterKey('cafe\u0301 fi', salt, KDF_DEFAULT),
      deriveMasterKey('cafe fi', salt, KDF_DEFAULT),
    ])
    expect(composed).toEqual(decomposed)
    expect(composed).not.toEqual(other)
  })

  const weaker = [
    { algorithm: 'argon2i' },
    { algorithm: 'pbkdf2' },
    { memory_kib: 65_535 },
    { memory_kib: 0 },
    { iterations: 2 },
    { parallelism: 3 },
    { iterations: 3.5 },
    { iterations: Number.NaN },
    { memory_kib: -65_536 },
  ]
  for (const change of weaker) {
    test(`the master key is rejected when a server requests ${JSON.stringify(change)}`, async () => {
      const asked = deriveMasterKey('password', salt, { ...KDF_DEFAULT, ...change })
      await expect(asked).rejects.toThrow(/The server requested /)
    })
  }

  for (const change of [{ memory_kib: 2 ** 31 }, { iterations: 17 }, { parallelism: 1e9 }]) {
    test(`an excessive cost is rejected: ${JSON.stringify(change)}`, async () => {
      const asked = deriveMasterKey('password', salt, { ...KDF_DEFAULT, ...change })
      await expect(asked).rejects.toThrow(/excessive key derivation cost/)
    })
  }

  test('the master key is rejected for a salt that is not 16 bytes', async () => {
    for (const length of [0, 8, 15, 17]) {
      const asked = deriveMasterKey('password', new Uint8Array(length), KDF_DEFAULT)
      await expect(asked).rejects.toThrow('16 bytes')
    }
  })
})

describe('a wrapped private key', () => {
  const { privateKey, publicKey } = generateKeyPair()
  const key = new Uint8Array(32).fill(6)
  const recoveryKey = generateRecoveryKey()
  const forms = [
    { name: 'for login', key, wrap: wrapPrivateKey, unwrap: unwrapPrivateKey },
    { name: 'for recovery', key: recoveryKey, wrap: wrapForRecovery, unwrap: unwrapForRecovery },
  ]

  for (const { name, key, wrap, unwrap } of forms) {
    test(`${name} opens, each time under another nonce`, () => {
      const [one, two] = [wrap(key, privateKey, publicKey), wrap(key, privateKey, publicKey)]
      expect(one).not.toBe(two)
      expect(unwrap(key, one, publicKey)).toEqual(privateKey)
      expect(unwrap(key, two, publicKey)).toEqual(privateKey)
    })

    test(`${name} does not open with any single bit flipped`, () => {
      const bytes = fromBase64(wrap(key, privateKey, publicKey)) ?? new Uint8Array()
      expect(bytes).toHaveLength(61)
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const flipped = bytes.with(bit >> 3, (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7)))
        expect(unwrap(key, toBase64(flipped), publicKey)).toBeNull()
      }
    })

    test(`${name} does not open under another key or for another public key`, () => {
      const wrapped = wrap(key, privateKey, publicKey)
      expect(unwrap(key.with(0, (key[0] ?? 0) ^ 1), wrapped, publicKey)).toBeNull()
      expect(unwrap(key, wrapped, generateKeyPair().publicKey)).toBeNull()
      expect(unwrap(key, 'not base64', publicKey)).toBeNull()
    })

    test(`${name} is rejected when it contains the private key of another public key`, () => {
      const foreign = wrap(key, generateKeyPair().privateKey, publicKey)
      expect(unwrap(key, foreign, publicKey)).toBeNull()
    })
  }

  test('a private key is wrapped differently for login and for recovery under one key', () => {
    expect(unwrapPrivateKey(key, wrapForRecovery(key, privateKey, publicKey), publicKey)).toBeNull()
    expect(unwrapForRecovery(key, wrapPrivateKey(key, privateKey, publicKey), publicKey)).toBeNull()
  })
})

test('the recovery verifier is neither the recovery key nor the key that unwraps', () => {
  const recoveryKey = generateRecoveryKey()
  const { privateKey, publicKey } = generateKeyPair()
  const verifier = fromBase64Url(recoveryVerifier(recoveryKey)) ?? new Uint8Array()
  expect(verifier).toHaveLength(32)
  expect(verifier).not.toEqual(recoveryKey)
  const wrapped = wrapForRecovery(recoveryKey, privateKey, publicKey)
  expect(unwrapForRecovery(verifier, wrapped, publicKey)).toBeNull()
})

test('a fingerprint shows all of SHA-256 in sixteen groups of four', async () => {
  expect(await fingerprint(new Uint8Array(32))).toBe(
    '6668 7aad f862 bd77 6c8f c18b 8e9f 8e20 0897 1485 6ee2 33b3 902a 591d 0d5f 2925',
  )
})
