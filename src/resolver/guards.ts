/**
 * What answers are searched for (protocol 6.1): every value that a token may use, prepared once for each
 * set of environments and policy version, whichever of the tokens that hold their keys calls. Kept are
 * keyed fingerprints, and exactly as long as the opened keys are: for KEY_CACHE_SECONDS, and not beyond a
 * change of the workspace.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { environmentKeyOf, keyNameOf } from '../access/environment_key.ts'
import type { KeyCache } from '../access/keys.ts'
import type { Granted } from '../access/snapshots/snapshot.ts'
import type { Snapshot, SnapshotCache } from '../access/snapshots/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import {
  type Guard,
  type MadeBytes,
  type NamedBytes,
  prepareGuard,
  prepareGuardInSteps,
} from '../leak_guard/index.ts'
import { derivedValues } from '../outbound/derived_values.ts'
import type { Steps } from '../outbound/steps.ts'
import { openSealed, type SealedSecret } from '../platform/crypto/secret_value.ts'
import { Fault } from '../platform/fault.ts'
import { LruMap } from '../platform/lru.ts'
import type { Secret } from '../platform/secret.ts'

export type GuardParts = {
  snapshots: SnapshotCache
  keys: KeyCache
  snapshot: Snapshot
  token: LiveToken
}

/** A guard, and the names of the cached keys that opened its values. */
type Kept = { guard: Guard; keyNames: readonly string[] }
/** An environment that a token can open, and which key opens it. */
type Opened = { place: Granted; keyId: string }

/** A value, and what can be made of it in any call. */
type Guarded = { value: NamedBytes; made: MadeBytes[] }

/** Under which name the guard of a token is kept, and the names of the keys that it was given. */
type Opening = { name: string; keyNames: readonly string[] }

/** Of a token that can open nothing. */
const UNGUARDED = prepareGuard([])
const MAX_GUARDS = 256
const SWEEP_MS = 1000
/** Values that are opened between two pauses: well under a millisecond. */
const OPENED_AT_ONCE = 32

export class GuardCache {
  readonly #steps: Steps
  readonly #keys: KeyCache
  readonly #guards = new LruMap<string, Kept>({ max: MAX_GUARDS })
  readonly #timer: Timer
  /** By the grants of a token in one snapshot; some may hold no key that opens. */
  readonly #openings = new WeakMap<readonly Granted[], Opening>()
  /**
   * What is being prepared, by where it reads: a decision under a lock must not wait for one that waits
   * for its connection.
   */
  readonly #pending = new WeakMap<SnapshotCache, Map<string, Promise<Guard>>>()

  constructor({ steps, keys }: { steps: Steps; keys: KeyCache }) {
    this.#steps = steps
    this.#keys = keys
    this.#timer = setInterval(() => this.sweep(), SWEEP_MS)
    this.#timer.unref()
  }

  /** The prepared guard, where it and the token's keys are cached. `granted` as its snapshot has it. */
  get({ snapshot, token }: GuardParts, granted: readonly Granted[]): Guard | undefined {
    const known = this.#openings.get(granted)
    if (known) return this.#kept(known)
    const opened: Opened[] = []
    for (const place of granted) {
      const key = this.#keys.peek(keyNameOf(snapshot, token, place))
      if (!key) return undefined
      opened.push({ place, keyId: idOf(key) })
    }
    return this.#kept(this.#opening({ snapshot, token }, granted, opened))
  }

  /** @throws StaleSnapshot */
  async of(parts: GuardParts, granted: readonly Granted[]): Promise<Guard> {
    const known = this.get(parts, granted)
    if (known) return known
    const opened: Opened[] = []
    for (const place of granted) {
      const key = await openedKeyOf(parts, place)
      if (key) opened.push({ place, keyId: idOf(key) })
    }
    const opening = this.#opening(parts, granted, opened)
    return this.#kept(opening) ?? (await this.#prepareOnce(parts, opened, opening))
  }

  /** Drops what was opened with a key that is not cached any more. */
  sweep(): void {
    for (const [name, kept] of this.#guards) if (!this.#isLive(kept)) this.#guards.delete(name)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#guards.clear()
  }

  get size(): number {
    return this.#guards.size
  }

  #opening(
    { snapshot, token }: Pick<GuardParts, 'snapshot' | 'token'>,
    granted: readonly Granted[],
    opened: readonly Opened[],
  ): Opening {
    const keyNames = opened.map(({ place }) => keyNameOf(snapshot, token, place))
    const opening = { name: nameOf(snapshot, opened), keyNames }
    this.#openings.set(granted, opening)
    return opening
  }

  #kept(opening: Opening): Guard | undefined {
    if (opening.keyNames.length === 0) return UNGUARDED
    if (!this.#isLive(opening)) return undefined
    const kept = this.#guards.get(opening.name)
    if (!kept || this.#isLive(kept)) return kept?.guard
    this.#guards.delete(opening.name)
    return undefined
  }

  #isLive({ keyNames }: Pick<Kept, 'keyNames'>): boolean {
    return keyNames.every((name) => this.#keys.peek(name) !== null)
  }

  #prepareOnce(
    parts: GuardParts,
    opened: readonly Opened[],
    { name, keyNames }: Opening,
  ): Promise<Guard> {
    const pending = this.#pending.get(parts.snapshots) ?? new Map<string, Promise<Guard>>()
    this.#pending.set(parts.snapshots, pending)
    const known = pending.get(name)
    if (known) return known
    const guard = this.#prepare(parts, opened)
      .then((prepared) => {
        const kept = { guard: prepared, keyNames }
        if (this.#isLive(kept)) this.#guards.set(name, kept)
        return prepared
      })
      .finally(() => pending.delete(name))
    pending.set(name, guard)
    return guard
  }

  async #prepare(parts: GuardParts, opened: readonly Opened[]): Promise<Guard> {
    const pause = () => this.#steps.pause(parts.snapshot.workspaceId)
    const values: NamedBytes[] = []
    const derived: MadeBytes[] = []
    for (const { place } of opened) {
      for (const { value, made } of await openAll(parts, place, pause)) {
        values.push(value)
        derived.push(...made)
      }
    }
    return prepareGuardInSteps(values, pause, derived)
  }
}

/**
 * By version, environments and keys: what one token opens is only for another that opens the same. A token
 * that was given a wrong key, or none, would else leave the values unguarded for all.
 */
function nameOf({ workspaceId, policyVersion }: Snapshot, opened: readonly Opened[]): string {
  const places = opened.map(
    ({ place, keyId }) => `${place.projectId}/${place.environment}/${keyId}`,
  )
  return `${workspaceId}/${policyVersion}/${places.sort().join(',')}`
}

const ID_KEY = randomBytes(32)
/** Of keys that are cached, each worked out once. */
const ids = new WeakMap<Secret, string>()

/** The same for the same key, and of no use without the process. */
function idOf(key: Secret): string {
  const known = ids.get(key)
  if (known) return known
  const id = createHmac('sha256', ID_KEY).update(key.reveal()).digest('base64')
  ids.set(key, id)
  return id
}

/** Settings are no secrets; what does not open cannot be used either. */
async function openAll(
  parts: GuardParts,
  place: Granted,
  pause: () => Promise<void>,
): Promise<Guarded[]> {
  const { snapshots, snapshot, token } = parts
  const sealed = await snapshots.readEnvironment(snapshot, place.projectId, place.environment)
  const secrets = (sealed ?? []).filter(({ policy }) => policy?.sensitive !== false)
  const values: Guarded[] = []
  for (let from = 0; from < secrets.length; from += OPENED_AT_ONCE) {
    if (from > 0) await pause()
    // Asked for anew after each pause: the cached one may have been wiped.
    const key = await environmentKeyOf(parts, snapshot, token, place)
    const some = secrets.slice(from, from + OPENED_AT_ONCE)
    values.push(...some.flatMap((secret) => open(key.reveal(), secret)))
  }
  return values
}

/** `null` where the token was not given the present key. */
async function openedKeyOf(parts: GuardParts, place: Granted): Promise<Secret | null> {
  try {
    return await environmentKeyOf(parts, parts.snapshot, parts.token, place)
  } catch (error) {
    if (error instanceof Fault && error.code === 'key_not_provisioned') return null
    throw error
  }
}

function open(key: Uint8Array, sealed: SealedSecret): Guarded[] {
  const bytes = openSealed(key, sealed)?.reveal()
  if (!bytes) return []
  const made = derivedValues(sealed.key, bytes, sealed.policy)
  return [{ value: { name: sealed.key, bytes }, made }]
}
