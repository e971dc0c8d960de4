/**
 * A person's identity for others: two public keys, derived from one seed that never leaves the client, and a proof that
 * one person holds both and claims an address (protocol 3.1).
 */

import { isSoundPoint, signEd25519, signingKeyOf, verifyEd25519 } from '../core/crypto/ed25519.ts'
import { type Bytes, concat, fromBase64, lp, toBase64, utf8 } from '../core/crypto/encoding.ts'
import { fingerprint } from '../core/crypto/fingerprint.ts'
import { isLowOrder } from '../core/crypto/low_order.ts'
import { webHkdf, webSha256, webX25519PublicKey } from '../core/crypto/web_primitives.ts'
import { Refusal } from './refusal.ts'

/** The public half. */
export type PublicIdentity = { signing_key: string; public_key: string }

/** The public half of an account that may have no signing key. */
export type ShownKeys = { signing_key: string | null; public_key: string }

export type Identity = PublicIdentity & {
  signingKey: CryptoKey
  /** X25519, which envelopes are opened with. */
  privateKey: Bytes
}

const SEED_BYTES = 32
const KEY_BYTES = 32
const FINGERPRINT_BYTES = 15
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

export async function identityOf(seed: Bytes): Promise<Identity> {
  if (seed.length !== SEED_BYTES) throw new RangeError('an account seed has 32 bytes')
  const none = new Uint8Array(0)
  const signing = await signingKeyOf(await webHkdf(seed, none, 'cloakroom/v2/account-ed25519'))
  const privateKey = await webHkdf(seed, none, 'cloakroom/v2/account-x25519')
  return {
    signingKey: signing.privateKey,
    signing_key: toBase64(signing.publicKey),
    privateKey,
    public_key: toBase64(await webX25519PublicKey(privateKey)),
  }
}

/** `key_proof`: the signature that binds an address and both keys together. */
export async function proveKeys(identity: Identity, email: string): Promise<string> {
  return toBase64(await signEd25519(identity.signingKey, buildProofText(email, readKeys(identity))))
}

/** @throws Refusal `form`, `key`, `signature` */
export async function requireKeyProof(
  identity: PublicIdentity,
  email: string,
  proof: string,
): Promise<void> {
  const keys = readKeys(identity)
  const signature = fromBase64(proof)
  const text = buildProofText(email, keys)
  const isGood = signature !== null && (await verifyEd25519(keys.signing, text, signature))
  if (!isGood) throw new Refusal('signature', undefined, 'the key proof')
}

/**
 * Returns a fingerprint that two people can compare over another channel: 24 characters of base32, 120 bits. Without a
 * signing key, it is that of the public key.
 */
export async function identityFingerprint({ signing_key, public_key }: ShownKeys): Promise<string> {
  if (signing_key === null) return fingerprint(fromBase64(public_key) ?? new Uint8Array(0))
  const keys = readKeys({ signing_key, public_key })
  const digest = await webSha256(lp(keys.signing, keys.sealing))
  const text = base32(digest.subarray(0, FINGERPRINT_BYTES))
  return (text.match(/.{4}/g) ?? []).join(' ')
}

type Keys = { signing: Bytes; sealing: Bytes }

function readKeys({ signing_key, public_key }: PublicIdentity): Keys {
  const [signing, sealing] = [fromBase64(signing_key), fromBase64(public_key)]
  const haveForm = signing?.length === KEY_BYTES && sealing?.length === KEY_BYTES
  if (!haveForm) throw new Refusal('form', undefined, 'the key pair')
  const areSound = isSoundPoint(signing) && !isLowOrder(sealing)
  if (!areSound) throw new Refusal('key', undefined, 'the key pair')
  return { signing, sealing }
}

function buildProofText(email: string, { signing, sealing }: Keys): Bytes {
  return concat(utf8('cloakroom/v2/identity\n'), lp(email.toLowerCase(), signing, sealing))
}

/** RFC 4648, section 6, in lower case, of a number of bytes that needs no padding. */
function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32.charAt((held >>> (bits - 5)) & 31)
    held &= 0xff
  }
  return text
}
