// tier: quick
/** The primitives, checked with the vectors that their specifications publish. */
import { describe, expect, test } from 'bun:test'
import { argon2 } from 'node:crypto'
import * as hpke from 'hpke'
import {
  hkdf,
  openGcm,
  sealGcm,
  sha256,
  x25519PublicKey,
} from '../../../src/core/crypto/primitives.ts'
import gcm from '../../vectors/aes_gcm.json'
import rfc5869 from '../../vectors/rfc5869.json'
import rfc7748 from '../../vectors/rfc7748.json'
import rfc9106 from '../../vectors/rfc9106.json'
import rfc9180 from '../../vectors/rfc9180.json'
import { referenceSeal, x25519 } from './hpke_reference.ts'

const hex = (text: string) => Uint8Array.fromHex(text)

describe('HKDF-SHA256 (RFC 5869)', () => {
  for (const { name, ikm, salt, info, okm } of rfc5869.cases) {
    test(name, () => {
      expect(hkdf(hex(ikm), hex(salt), hex(info)).toHex()).toBe(okm.slice(0, 64))
    })
  }
})

describe('AES-256-GCM (McGrew and Viega)', () => {
  for (const { name, key, nonce, additional_data, plaintext, ciphertext, tag } of gcm.cases) {
    test(name, () => {
      const sealed = sealGcm(hex(key), hex(nonce), hex(additional_data), hex(plaintext))
      expect(sealed.toHex()).toBe(ciphertext + tag)
      const opened = openGcm(hex(key), hex(nonce), hex(additional_data), sealed)
      expect(opened?.toHex()).toBe(plaintext)
    })
  }

  test('AES-256-GCM accepts only a nonce of 12 bytes', () => {
    const key = new Uint8Array(32)
    for (const length of [0, 8, 11, 13, 16]) {
      const nonce = new Uint8Array(length)
      expect(() => sealGcm(key, nonce, key, key)).toThrow(RangeError)
      expect(() => openGcm(key, nonce, key, key)).toThrow(RangeError)
    }
  })
})

test('SHA-256 of "abc" (FIPS 180-4)', () => {
  const digest = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  expect(sha256('abc').toHex()).toBe(digest)
})

test('X25519 (RFC 7748, section 6.1)', () => {
  expect(x25519PublicKey(hex(rfc7748.alice_private)).toHex()).toBe(rfc7748.alice_public)
  expect(x25519PublicKey(hex(rfc7748.bob_private)).toHex()).toBe(rfc7748.bob_public)
  const shared = x25519(hex(rfc7748.alice_private), hex(rfc7748.bob_public))
  expect(shared.toHex()).toBe(rfc7748.shared_secret)
})

test('Argon2id (RFC 9106, section 5.3)', async () => {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const parameters = {
    message: hex(rfc9106.password),
    nonce: hex(rfc9106.salt),
    secret: hex(rfc9106.secret),
    associatedData: hex(rfc9106.associated_data),
    memory: rfc9106.memory,
    passes: rfc9106.passes,
    parallelism: rfc9106.parallelism,
    tagLength: 32,
  }
  argon2('argon2id', parameters, (failure, tag) => (failure ? reject(failure) : resolve(tag)))
  expect(Buffer.from(await promise).toString('hex')).toBe(rfc9106.tag)
})

describe('HPKE (RFC 9180 appendix A.1.1)', () => {
  test('the library that seals envelopes opens the published messages', async () => {
    const suite = new hpke.CipherSuite(
      hpke.KEM_DHKEM_X25519_HKDF_SHA256,
      hpke.KDF_HKDF_SHA256,
      hpke.AEAD_AES_128_GCM,
    )
    const recipient = await suite.DeserializePrivateKey(hex(rfc9180.recipient_private_key), true)
    const context = await suite.SetupRecipient(recipient, hex(rfc9180.enc), {
      info: hex(rfc9180.info),
    })
    for (const { aad, ciphertext } of rfc9180.encryptions) {
      const opened = await context.Open(hex(ciphertext), hex(aad))
      expect(opened.toHex()).toBe(rfc9180.plaintext)
    }
  })

  test('the reference of these tests reproduces every published intermediate', () => {
    const [first] = rfc9180.encryptions
    const sealed = referenceSeal({
      ephemeralPrivateKey: hex(rfc9180.ephemeral_private_key),
      recipientPublicKey: hex(rfc9180.recipient_public_key),
      info: hex(rfc9180.info),
      additionalData: hex(first?.aad ?? ''),
      plaintext: hex(rfc9180.plaintext),
      aead: 1,
    })
    expect(sealed.enc.toHex()).toBe(rfc9180.enc)
    expect(sealed.sharedSecret.toHex()).toBe(rfc9180.shared_secret)
    expect(sealed.key.toHex()).toBe(rfc9180.key)
    expect(sealed.nonce.toHex()).toBe(rfc9180.base_nonce)
    expect(sealed.ciphertext.toHex()).toBe(first?.ciphertext ?? 'missing')
  })
})
