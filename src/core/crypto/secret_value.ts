/**
 * Secret values (protocol 3.3 and 14.1): a value opens only under the key it was sealed with, in the project,
 * environment and under the name it was sealed for, and with the policy its author gave it. A policy altered in the
 * database makes a secret unreadable instead of more permissive. The policy also chooses the key: the environment key,
 * or for a held secret the held key, which no token gets.
 */
import canonicalize from 'canonicalize'
import { isHeld, type Policy } from '../policy/policy.ts'
import { Secret } from '../secret.ts'
import { concat, lp, u32be, uuidToBytes } from './encoding.ts'
import {
  type GcmMessage,
  gcmMessage,
  hkdf,
  NONCE_BYTES,
  openGcmMessage,
  sealGcm,
  sha256,
  TAG_BYTES,
} from './primitives.ts'
import { generateRandomBytes } from './random.ts'

/** A secret's place, which is the additional data of its ciphertext. */
export type SecretPlace = { projectId: string; environment: string; key: string }

/** A secret as its author sealed it. `ciphertext` is null if the stored one is damaged. */
export type SealedSecret = SecretPlace & {
  policy: Policy | null
  ciphertext: Uint8Array | null
  /** Only for a policy with `kind`, once a value was derived or the derivation was tried. */
  derived?: DerivedRow | null
}

/**
 * The stored parts of a derived credential. `state` is sealed for this generation; null if none was stored or it
 * is damaged. The rest are hints for people and for timing. Times are milliseconds since 1970.
 */
export type DerivedRow = {
  generation: number
  state: Uint8Array | null
  expiresAt: number | null
  failedAt: number | null
  failedCode: string | null
  /** Nothing is derived until the secret is written. */
  isFinal: boolean
  retryAt: number | null
}

/** The first byte of a ciphertext, and the label in its additional data. */
type Form = { version: 1 | 2; label: string }
const USUAL: Form = { version: 1, label: 'cloakroom/v1/secret' }
const HELD: Form = { version: 2, label: 'cloakroom/v3/held-secret' }

export const MAX_EPOCH = 65_535
const HEADER_BYTES = 1 + 4
/** Bytes that sealing adds to a value. */
export const OVERHEAD_BYTES = HEADER_BYTES + NONCE_BYTES + TAG_BYTES

/**
 * Returns the SHA-256 of the policy in JCS (RFC 8785); a missing policy is `null`. Throws for a value that JCS cannot
 * express, such as text with a lone surrogate.
 */
export function policyHash(policy: unknown): Uint8Array {
  const text = canonicalize(policy ?? null)
  if (text === undefined) throw new TypeError('the policy is not JSON')
  return sha256(text)
}

/** EK of protocol 3.3: 32 bytes for one project, environment and epoch (1 to 65,535). */
export function environmentKey(
  workspaceKey: Uint8Array,
  projectId: string,
  environment: string,
  epoch: number,
): Uint8Array {
  return placeKey('cloakroom/v1/environment-key', workspaceKey, { projectId, environment, epoch })
}

/** HK of protocol 14.1: the key for held secrets. Members derive it; it is never put into an envelope for a token. */
export function deriveHeldKey(
  workspaceKey: Uint8Array,
  projectId: string,
  environment: string,
  epoch: number,
): Uint8Array {
  return placeKey('cloakroom/v3/held-key', workspaceKey, { projectId, environment, epoch })
}

function placeKey(
  label: string,
  workspaceKey: Uint8Array,
  place: { projectId: string; environment: string; epoch: number },
): Uint8Array {
  requireEpoch(place.epoch)
  const info = lp(label, place.environment, u32be(place.epoch))
  return hkdf(workspaceKey, uuidToBytes(place.projectId), info)
}

/**
 * `version || u32be(epoch) || nonce12 || ciphertext || tag` under the environment key, or of a held secret under the
 * held key. The nonce is random unless a test vector gives it: one used twice under one key would reveal both values.
 */
export function sealSecretValue(
  key: Uint8Array,
  place: SecretPlace,
  policy: unknown,
  epoch: number,
  plaintext: Uint8Array,
  nonce: Uint8Array = generateRandomBytes(NONCE_BYTES),
): Uint8Array {
  requireEpoch(epoch)
  const sealed = sealGcm(key, nonce, placeData(place, policy), plaintext)
  return concat(Uint8Array.of(formOf(policy).version), u32be(epoch), nonce, sealed)
}

/**
 * The plaintext, or `null` for anything that does not open; never throws. The ciphertext must have the form that the
 * policy demands. The key alone decides about the epoch, the header is not authenticated: the caller compares
 * `readValueEpoch` with the epoch of the key it holds.
 */
export function openSecretValue(
  key: Uint8Array,
  place: SecretPlace,
  policy: unknown,
  ciphertext: Uint8Array,
): Secret | null {
  const bound = boundOf({ ...place, policy, ciphertext })
  return bound && openBoundValue(key, bound)
}

/** Whether two policies are equal for a ciphertext that binds one. A policy that JCS cannot express equals none. */
export function isSamePolicy(one: unknown, other: unknown): boolean {
  if ((one ?? null) === null && (other ?? null) === null) return true
  try {
    return policyHash(one).toHex() === policyHash(other).toHex()
  } catch {
    return false
  }
}

/** Opens a secret that is opened repeatedly, and parses it only once. */
export function openSealed(key: Uint8Array, sealed: SealedSecret): Secret | null {
  const bound = findBoundMessage(sealed)
  return bound && openBoundValue(key, bound)
}

/** Messages, kept as long as the sealed secret itself: for one policy version. */
const kept = new WeakMap<SealedSecret, GcmMessage | null>()

function findBoundMessage(sealed: SealedSecret): GcmMessage | null {
  const known = kept.get(sealed)
  if (known !== undefined) return known
  const bound = boundOf(sealed)
  kept.set(sealed, bound)
  return bound
}

/** Returns the message bound to its place and policy; `null` if it is not a ciphertext, or cannot have been sealed. */
function boundOf(
  secret: SecretPlace & { policy: unknown; ciphertext: Uint8Array | null },
): GcmMessage | null {
  const { policy, ciphertext } = secret
  if (ciphertext === null || ciphertext.length < OVERHEAD_BYTES) return null
  if (readValueEpoch(ciphertext) === null) return null
  if (ciphertext[0] !== formOf(policy).version) return null
  const nonce = ciphertext.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES)
  const sealed = ciphertext.subarray(HEADER_BYTES + NONCE_BYTES)
  try {
    return gcmMessage(nonce, placeData(secret, policy), sealed)
  } catch {
    return null
  }
}

function openBoundValue(key: Uint8Array, bound: GcmMessage): Secret | null {
  try {
    const plaintext = openGcmMessage(key, bound)
    return plaintext && new Secret(plaintext)
  } catch {
    // A key of another length.
    return null
  }
}

/** The epoch of a header that reads version 1 or 2 with an epoch from 1 to 65,535, else `null`. */
export function readValueEpoch(ciphertext: Uint8Array): number | null {
  if (ciphertext.length < HEADER_BYTES || !isVersion(ciphertext[0])) return null
  const epoch = new DataView(ciphertext.buffer, ciphertext.byteOffset).getUint32(1)
  return isEpoch(epoch) ? epoch : null
}

/** 2 for the ciphertext of a held secret, 1 for all others, `null` for another client's form. */
export function readValueVersion(ciphertext: Uint8Array): 1 | 2 | null {
  const [version] = ciphertext
  return readValueEpoch(ciphertext) !== null && isVersion(version) ? version : null
}

/** Whether policy and ciphertext both mark a held secret, which no token opens: otherwise one of them was altered. */
export function isSealedHeld({ policy, ciphertext }: Pick<SealedSecret, 'policy' | 'ciphertext'>) {
  return isHeld(policy) && ciphertext !== null && readValueVersion(ciphertext) === HELD.version
}

function isVersion(byte: number | undefined): byte is Form['version'] {
  return byte === USUAL.version || byte === HELD.version
}

function formOf(policy: unknown): Form {
  return isHeld(policy) ? HELD : USUAL
}

function placeData(place: SecretPlace, policy: unknown): Uint8Array {
  return lp(
    formOf(policy).label,
    uuidToBytes(place.projectId),
    place.environment,
    place.key,
    policyHash(policy),
  )
}

function requireEpoch(epoch: number): void {
  if (!isEpoch(epoch)) throw new RangeError('an epoch is an integer from 1 to 65,535')
}

function isEpoch(epoch: number): boolean {
  return Number.isInteger(epoch) && epoch >= 1 && epoch <= MAX_EPOCH
}
