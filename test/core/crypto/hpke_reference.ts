/**
 * A second, independent HPKE (RFC 9180, base mode, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and
 * AES-GCM), written from RFC 9180, sections 4.1, 5.1 and 5.2 with an ephemeral key of the caller's choice.
 * It exists so that tests can reproduce envelopes byte for byte; the product uses npm `hpke`.
 */
import {
  createCipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
} from 'node:crypto'
import { concat, utf8 } from '../../../src/core/crypto/encoding.ts'
import { x25519PublicKey } from '../../../src/core/crypto/primitives.ts'

export type ReferenceSeal = {
  ephemeralPrivateKey: Uint8Array
  recipientPublicKey: Uint8Array
  info: Uint8Array
  additionalData: Uint8Array
  plaintext: Uint8Array
  /** RFC 9180 table 5: 1 is AES-128-GCM, 2 is AES-256-GCM. */
  aead: 1 | 2
}

/** The first message of a context: `enc` and all values that resulted in the ciphertext. */
export function referenceSeal(input: ReferenceSeal) {
  const enc = x25519PublicKey(input.ephemeralPrivateKey)
  const shared = x25519(input.ephemeralPrivateKey, input.recipientPublicKey)
  const kem = concat(utf8('KEM'), u16(0x20))
  const prk = labeledExtract(kem, new Uint8Array(0), 'eae_prk', shared)
  const kemContext = concat(enc, input.recipientPublicKey)
  const sharedSecret = labeledExpand(kem, prk, 'shared_secret', kemContext, 32)

  const suite = concat(utf8('HPKE'), u16(0x20), u16(1), u16(input.aead))
  const nothing = new Uint8Array(0)
  const context = concat(
    Uint8Array.of(0),
    labeledExtract(suite, nothing, 'psk_id_hash', nothing),
    labeledExtract(suite, nothing, 'info_hash', input.info),
  )
  const secret = labeledExtract(suite, sharedSecret, 'secret', nothing)
  const key = labeledExpand(suite, secret, 'key', context, input.aead === 1 ? 16 : 32)
  const nonce = labeledExpand(suite, secret, 'base_nonce', context, 12)
  const cipher = createCipheriv(input.aead === 1 ? 'aes-128-gcm' : 'aes-256-gcm', key, nonce)
  cipher.setAAD(input.additionalData)
  const ciphertext = concat(cipher.update(input.plaintext), cipher.final(), cipher.getAuthTag())
  return { enc, sharedSecret, key, nonce, ciphertext }
}

/** Diffie-Hellman of raw keys (RFC 7748, section 6.1). */
export function x25519(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
  const der = { format: 'der' } as const
  const pkcs8 = Uint8Array.fromHex(`302e020100300506032b656e04220420${privateKey.toHex()}`)
  const spki = Uint8Array.fromHex(`302a300506032b656e032100${publicKey.toHex()}`)
  return diffieHellman({
    privateKey: createPrivateKey({ ...der, type: 'pkcs8', key: Buffer.from(pkcs8) }),
    publicKey: createPublicKey({ ...der, type: 'spki', key: Buffer.from(spki) }),
  })
}

function labeledExtract(suite: Uint8Array, salt: Uint8Array, label: string, ikm: Uint8Array) {
  return hmac(salt, concat(utf8('HPKE-v1'), suite, utf8(label), ikm))
}

function labeledExpand(
  suite: Uint8Array,
  prk: Uint8Array,
  label: string,
  info: Uint8Array,
  length: number,
): Uint8Array {
  const labeled = concat(u16(length), utf8('HPKE-v1'), suite, utf8(label), info)
  // One block of HKDF-Expand is enough: no output here is longer than a hash.
  return hmac(prk, concat(labeled, Uint8Array.of(1))).slice(0, length)
}

function hmac(key: Uint8Array, data: Uint8Array): Uint8Array {
  return Uint8Array.from(createHmac('sha256', key).update(data).digest())
}

function u16(value: number): Uint8Array {
  return Uint8Array.of(value >>> 8, value & 0xff)
}
