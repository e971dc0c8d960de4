/**
 * HPKE in base mode (RFC 9180) for a recipient, in one go: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and
 * AES-256-GCM. The library `hpke`, which seals, works with Web Crypto: it waits some fifteen times for a pool of
 * threads, which in the first call after a rest has to wake each time.
 */
import { type Bytes, concat, utf8 } from './encoding.ts'
import { hmac, KEY_BYTES, NONCE_BYTES, openGcm, x25519 } from './primitives.ts'

/** A sealed message, and the context that the sender bound it to. */
type Sealed = {
  encapsulatedKey: Uint8Array
  ciphertext: Uint8Array
  info: Uint8Array
  additionalData: Uint8Array
}

const KEM_ID = [0x00, 0x20]
/** KEM, KDF and AEAD (RFC 9180, section 7). */
const SUITE_IDS = [...KEM_ID, 0x00, 0x01, 0x00, 0x02]
const KEM = Uint8Array.of(...utf8('KEM'), ...KEM_ID)
const SUITE = Uint8Array.of(...utf8('HPKE'), ...SUITE_IDS)
const BASE_MODE = Uint8Array.of(0)
const NOTHING = new Uint8Array()
const NO_PSK = extractLabeled(SUITE, NOTHING, 'psk_id_hash', NOTHING)

/** The plaintext, or `null` when the tag does not fit. Throws for keys of low order or another length. */
export function hpkeOpen(privateKey: Uint8Array, sealed: Sealed): Bytes | null {
  const { encapsulatedKey, ciphertext, info, additionalData } = sealed
  const context = concat(BASE_MODE, NO_PSK, extractLabeled(SUITE, NOTHING, 'info_hash', info))
  const shared = decapsulate(privateKey, encapsulatedKey)
  const secret = extractLabeled(SUITE, shared, 'secret', NOTHING)
  const key = expandLabeled(SUITE, secret, 'key', context, KEY_BYTES)
  const nonce = expandLabeled(SUITE, secret, 'base_nonce', context, NONCE_BYTES)
  return openGcm(key, nonce, additionalData, ciphertext)
}

/** RFC 9180, section 4.1. */
function decapsulate(privateKey: Uint8Array, encapsulatedKey: Uint8Array): Bytes {
  const { shared, publicKey } = x25519(privateKey, encapsulatedKey)
  const context = concat(encapsulatedKey, publicKey)
  const prk = extractLabeled(KEM, NOTHING, 'eae_prk', shared)
  return expandLabeled(KEM, prk, 'shared_secret', context, KEY_BYTES)
}

/** RFC 9180, section 4. */
function extractLabeled(
  suite: Uint8Array,
  salt: Uint8Array,
  label: string,
  inputKey: Uint8Array,
): Bytes {
  return hmac(salt, concat(utf8('HPKE-v1'), suite, utf8(label), inputKey))
}

/** Outputs are never longer than a hash, so one block of HKDF-Expand is enough. */
function expandLabeled(
  suite: Uint8Array,
  prk: Uint8Array,
  label: string,
  info: Uint8Array,
  length: number,
): Bytes {
  const labeled = concat(Uint8Array.of(0, length), utf8('HPKE-v1'), suite, utf8(label), info)
  return hmac(prk, concat(labeled, Uint8Array.of(1))).slice(0, length)
}
