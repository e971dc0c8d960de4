/**
 * Guards for the search of answers (protocol 6.1): every value that a token may use, prepared once for each set of
 * environments and policy version, and shared by all tokens with the same keys. A guard keeps keyed fingerprints,
 * exactly as long as the opened keys are kept: for KEY_CACHE_SECONDS, and not beyond a change of the workspace.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { keyNameOf } from '../access/environment_key.ts'
import type { KeyCache } from '../access/keys.ts'
import type { Granted } from '../access/snapshots/snapshot.ts'
import type { Snapshot, SnapshotCache } from '../access/snapshots/snapshots.ts'
import { decideWhenRead } from '../core/async/unread.ts'
import { LruMap } from '../core/lru.ts'
import type { Secret } from '../core/secret.ts'
import {
  type Guard,
  type MadeBytes,
  type NamedBytes,
  prepareGuard,
  prepareGuardInSteps,
} from '../leak_guard/index.ts'
import { type ObtainedToken, ObtainedTokens } from '../outbound/obtained_tokens.ts'
import type { Steps } from '../outbound/steps.ts'
import { openGuardedReleases } from './approval/released_values.ts'
import { type GuardedValueParts, openAll, openedKeyOf } from './guarded_values.ts'

/**
 * A guard, the names of the cached keys that opened its values, and the version of the workspace's obtained tokens
 * that it covers.
 */
type Kept = { guard: Guard; keyNames: readonly string[]; obtained: number }
/** An environment that a token can decrypt, and the key for it. */
type Opened = { place: Granted; keyId: string }

/** The cache name of a token's guard, and the names of the token's keys. */
type Opening = { name: string; keyNames: readonly string[]; workspaceId: string }

/** The guard of a token that cannot decrypt anything. */
const UNGUARDED = prepareGuard([])
const MAX_GUARDS = 256
/** Workspaces with obtained tokens. */
const MAX_WORKSPACES = 1024
const SWEEP_MS = 1000

export class GuardCache {
  readonly #steps: Steps
  readonly #keys: KeyCache
  readonly #guards = new LruMap<string, Kept>({ max: MAX_GUARDS })
  readonly #obtained = new LruMap<string, ObtainedTokens>({ max: MAX_WORKSPACES })
  readonly #derived = new WeakMap<Guard, string>()
  readonly #timer: Timer
  /** Decrypted environments by a token's grants in one snapshot. The keys of some may not decrypt. */
  readonly #openings = new WeakMap<readonly Granted[], Opening>()
  /**
   * Guards in preparation, by the snapshot cache that they read from: a decision under a lock must not wait for one
   * that waits for its connection.
   */
  readonly #pending = new WeakMap<SnapshotCache, Map<string, Promise<Guard>>>()

  constructor({ steps, keys }: { steps: Steps; keys: KeyCache }) {
    this.#steps = steps
    this.#keys = keys
    this.#timer = setInterval(() => this.sweep(), SWEEP_MS)
    this.#timer.unref()
  }

  /** Returns the guard if it and the token's keys are cached. `granted` is of the snapshot. @throws Unread */
  get(parts: GuardedValueParts, granted: readonly Granted[]): Guard | undefined {
    const { snapshot, token } = parts
    const known = this.#openings.get(granted)
    if (known) return this.#findKept(known)
    const opened: Opened[] = []
    for (const place of granted) {
      const key = this.#keys.peek(keyNameOf(snapshot, token, place))
      if (!key) return undefined
      opened.push({ place, keyId: idOf(key) })
    }
    return this.#findKept(this.#openValues(parts, granted, opened))
  }

  /** @throws StaleSnapshot */
  async of(parts: GuardedValueParts, granted: readonly Granted[]): Promise<Guard> {
    // The preparation can then read these without a wait.
    await decideWhenRead(() => parts.snapshots.releases(parts.snapshot, parts.token.id))
    const known = this.get(parts, granted)
    if (known) return known
    const opened: Opened[] = []
    for (const place of granted) {
      const key = await openedKeyOf(parts, place)
      if (key) opened.push({ place, keyId: idOf(key) })
    }
    const opening = await decideWhenRead(() => this.#openValues(parts, granted, opened))
    return this.#findKept(opening) ?? (await this.#prepareOnce(parts, opened, opening))
  }

  /**
   * Makes the guards of later calls cover tokens that were obtained with the workspace's secrets.
   *
   * @throws Fault `rate_limited`
   */
  remember(workspaceId: string, tokens: readonly ObtainedToken[]): void {
    const known = this.#obtained.get(workspaceId) ?? new ObtainedTokens()
    this.#obtained.set(workspaceId, known)
    known.add(tokens)
  }

  /** Drops guards that were opened with a key that is no longer cached. */
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

  #openValues(
    { snapshots, snapshot, token }: GuardedValueParts,
    granted: readonly Granted[],
    opened: readonly Opened[],
  ): Opening {
    const keyNames = opened.map(({ place }) => keyNameOf(snapshot, token, place))
    const { workspaceId } = snapshot
    const isOfToken = snapshots.releases(snapshot, token.id).length > 0
    const name = `${nameOf(snapshot, opened)}${isOfToken ? `/${token.id}` : ''}`
    const opening = { name, keyNames, workspaceId }
    this.#openings.set(granted, opening)
    return opening
  }

  /** A digest of the derived states that a guard covers; `null` without a root. */
  digestDerived(guard: Guard): string | null {
    return this.#derived.get(guard) ?? null
  }

  #findKept(opening: Opening): Guard | undefined {
    if (opening.keyNames.length === 0) return UNGUARDED
    if (!this.#isLive(opening)) return undefined
    const kept = this.#guards.get(opening.name)
    if (!kept) return undefined
    const isComplete = kept.obtained === this.#versionOf(opening.workspaceId)
    if (isComplete && this.#isLive(kept)) return kept.guard
    this.#guards.delete(opening.name)
    return undefined
  }

  #versionOf(workspaceId: string): number {
    return this.#obtained.get(workspaceId)?.version ?? 0
  }

  #isLive({ keyNames }: Pick<Kept, 'keyNames'>): boolean {
    return keyNames.every((name) => this.#keys.peek(name) !== null)
  }

  #prepareOnce(
    parts: GuardedValueParts,
    opened: readonly Opened[],
    opening: Opening,
  ): Promise<Guard> {
    const pending = this.#pending.get(parts.snapshots) ?? new Map<string, Promise<Guard>>()
    this.#pending.set(parts.snapshots, pending)
    const { name, keyNames, workspaceId } = opening
    const obtained = this.#versionOf(workspaceId)
    // A preparation that began before a token was obtained does not cover that token.
    const pendingName = `${name}/${obtained}`
    const known = pending.get(pendingName)
    if (known) return known
    const guard = this.#prepare(parts, opened)
      .then((prepared) => {
        const kept = { guard: prepared, keyNames, obtained }
        if (this.#isLive(kept)) this.#guards.set(name, kept)
        return prepared
      })
      .finally(() => pending.delete(pendingName))
    pending.set(pendingName, guard)
    return guard
  }

  async #prepare(parts: GuardedValueParts, opened: readonly Opened[]): Promise<Guard> {
    const pause = () => this.#steps.pause(parts.snapshot.workspaceId)
    const values: NamedBytes[] = []
    const derived: MadeBytes[] = []
    const obtained = this.#obtained.get(parts.snapshot.workspaceId)
    const states = createHash('sha256')
    let hasRoot = false
    for (const { place } of opened) {
      for (const { value, made, state } of await openAll(parts, place, pause)) {
        values.push(value)
        derived.push(...made, ...(obtained?.of(value.name, value.bytes) ?? []))
        if (state === undefined) continue
        states.update(`${state} `)
        hasRoot = true
      }
    }
    const { snapshots, snapshot, token } = parts
    const releases = snapshots.releases(snapshot, token.id)
    values.push(...openGuardedReleases(releases, token, snapshot.workspaceId))
    const guard = await prepareGuardInSteps(values, pause, derived)
    if (hasRoot) this.#derived.set(guard, states.digest('hex'))
    return guard
  }
}

/**
 * Names a guard by version, environments and keys: only tokens that open the same values share it. Otherwise, a token
 * with a wrong key, or without one, would leave the values unguarded for all.
 */
function nameOf({ workspaceId, policyVersion }: Snapshot, opened: readonly Opened[]): string {
  const places = opened.map(
    ({ place, keyId }) => `${place.projectId}/${place.environment}/${keyId}`,
  )
  return `${workspaceId}/${policyVersion}/${places.sort().join(',')}`
}

const ID_KEY = randomBytes(32)
/** IDs of cached keys, each computed once. */
const ids = new WeakMap<Secret, string>()

/** Returns a stable id of a key, which is useless outside of this process. */
function idOf(key: Secret): string {
  const known = ids.get(key)
  if (known) return known
  const id = createHmac('sha256', ID_KEY).update(key.reveal()).digest('base64')
  ids.set(key, id)
  return id
}
