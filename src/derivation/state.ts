/** The state of a derived secret (protocol 13.2): sealed so that only its root opens it, and moved on by each result. */
import canonicalize from 'canonicalize'
import { concat, fromUtf8, lp, utf8, uuidToBytes } from '../core/crypto/encoding.ts'
import {
  type GcmMessage,
  gcmMessage,
  hkdf,
  NONCE_BYTES,
  openGcmMessage,
  sealGcm,
  sha256,
  TAG_BYTES,
} from '../core/crypto/primitives.ts'
import { generateRandomBytes } from '../core/crypto/random.ts'
import type { SecretPlace } from '../core/crypto/secret_value.ts'
import type { DerivedKind } from '../core/policy/policy.ts'
import type { Credential } from './credential.ts'
import type { Outcome } from './exchange.ts'
import { readJsonObject } from './json.ts'
import { type DerivedState, type GuardedValue, MAX_GUARDED, stateForm } from './state_form.ts'

export type { Credential, DerivedState }

/** A state's place. Each write has the next generation. */
export type StatePlace = SecretPlace & { generation: bigint | number }

const VERSION = 1
const HEADER_BYTES = 1 + NONCE_BYTES
/** Bytes of a sealed state. */
export const MAX_STATE_BYTES = 262_144
const MAX_PLAINTEXT_BYTES = MAX_STATE_BYTES - HEADER_BYTES - TAG_BYTES
const REFRESH_TOKEN_GUARDED_MS = 86_400_000
const MAX_U64 = 2n ** 64n - 1n

/** K: 32 bytes. Another root, kind or environment key has another one. `kind` is empty for a static value. */
export function deriveStateKey(
  environmentKey: Uint8Array,
  rootPlaintext: Uint8Array,
  kind: DerivedKind | '',
): Uint8Array {
  return hkdf(environmentKey, sha256(rootPlaintext), lp('cloakroom/v3/derived-key', kind))
}

/**
 * `0x01 || nonce12 || ciphertext || tag` under K. The nonce is random unless a test vector gives it.
 *
 * @throws RangeError for a state that is larger than 256 KiB sealed, or a generation that is not unsigned 64-bit
 */
export function sealState(
  key: Uint8Array,
  place: StatePlace,
  state: DerivedState,
  nonce: Uint8Array = generateRandomBytes(NONCE_BYTES),
): Uint8Array {
  const plaintext = encodeState(state)
  if (plaintext.length > MAX_PLAINTEXT_BYTES) throw new RangeError('the state is too large')
  return concat(Uint8Array.of(VERSION), nonce, sealGcm(key, nonce, placeData(place), plaintext))
}

/** Parses a sealed state once, so that it can be opened repeatedly; null if it is not a sealed state. */
export function stateMessage(place: StatePlace, sealed: Uint8Array): GcmMessage | null {
  const isFramed = sealed.length >= HEADER_BYTES + TAG_BYTES && sealed.length <= MAX_STATE_BYTES
  if (!isFramed || sealed[0] !== VERSION) return null
  const nonce = sealed.subarray(1, HEADER_BYTES)
  return gcmMessage(nonce, placeData(place), sealed.subarray(HEADER_BYTES))
}

/** The credential of a state whose form `openState` has checked. */
export function openCredential(
  key: Uint8Array,
  message: GcmMessage,
): NonNullable<Credential> | null {
  const plaintext = openGcmMessage(key, message)
  return plaintext && JSON.parse(fromUtf8(plaintext) ?? 'null').credential
}

/** Returns the state, or null for anything that does not open under this key; never throws for sealed input. */
export function openState(
  key: Uint8Array,
  place: StatePlace,
  sealed: Uint8Array,
): DerivedState | null {
  const message = stateMessage(place, sealed)
  const plaintext = message && openGcmMessage(key, message)
  return plaintext && (stateForm.safeParse(readJsonObject(plaintext)).data ?? null)
}

function encodeState(state: DerivedState): Uint8Array {
  return utf8(canonicalize(state) ?? '')
}

function placeData({ projectId, environment, key, generation }: StatePlace): Uint8Array {
  const label = 'cloakroom/v3/derived-state'
  return concat(lp(label, uuidToBytes(projectId), environment, key), u64be(BigInt(generation)))
}

function u64be(value: bigint): Uint8Array {
  if (value < 0n || value > MAX_U64) throw new RangeError('u64be takes an unsigned 64-bit integer')
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, value)
  return bytes
}

/**
 * Returns the state after a derivation. Replaced values are guarded: a credential until it expires, a refresh token for
 * 24 hours. Of more than 32 values, or 256 KiB sealed, those that end first are dropped.
 *
 * @param sentAtMs when the request was sent: the credential's lifetime counts from that moment
 */
export function buildNextState(
  old: DerivedState | null,
  derived: Extract<Outcome, { kind: 'derived' }>,
  sentAtMs: number,
  nowMs: number,
): DerivedState {
  const { credential, refreshToken, lifetimeS } = derived
  const state = {
    v: 3,
    credential,
    refresh_token: refreshToken ?? old?.refresh_token ?? null,
    expires_at: sentAtMs + lifetimeS * 1000,
    derived_at: sentAtMs,
    guarded: [],
  } satisfies DerivedState
  return fitGuarded({ ...state, guarded: old ? keepReplacedValues(old, state, nowMs) : [] }, nowMs)
}

function keepReplacedValues(old: DerivedState, state: DerivedState, nowMs: number): GuardedValue[] {
  const current = [...valuesOf(state.credential), state.refresh_token]
  const replaced = [
    ...valuesOf(old.credential).map((value) => ({ value, until: old.expires_at ?? 0 })),
    ...(old.refresh_token === null
      ? []
      : [{ value: old.refresh_token, until: nowMs + REFRESH_TOKEN_GUARDED_MS }]),
  ]
  return [...old.guarded, ...replaced.filter(({ value }) => !current.includes(value))]
}

function fitGuarded(state: DerivedState, nowMs: number): DerivedState {
  const last = new Map<string, number>()
  for (const { value, until } of state.guarded) {
    if (until > nowMs) last.set(value, Math.max(until, last.get(value) ?? 0))
  }
  const guarded = [...last]
    .map(([value, until]) => ({ value, until }))
    .sort((a, b) => a.until - b.until)
    .slice(-MAX_GUARDED)
  let fitted: DerivedState = { ...state, guarded }
  while (encodeState(fitted).length > MAX_PLAINTEXT_BYTES) {
    fitted = { ...fitted, guarded: fitted.guarded.slice(1) }
  }
  return fitted
}

/** Returns the texts of a credential, each of which is guarded. */
export function valuesOf(credential: Credential | null): string[] {
  if (credential === null) return []
  return typeof credential === 'string' ? [credential] : Object.values(credential)
}
