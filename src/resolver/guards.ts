/**
 * What answers are searched for (protocol 6.1): every value that a token may use, prepared once for each
 * set of environments and policy version, whichever token calls. Kept are keyed fingerprints, and only as
 * long as opened keys are: KEY_CACHE_SECONDS, and not beyond a change of the workspace.
 */
import { environmentKeyOf } from '../access/environment_key.ts'
import type { KeyCache } from '../access/keys.ts'
import type { Granted } from '../access/snapshot.ts'
import type { Snapshot, SnapshotCache } from '../access/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import { type Guard, type NamedBytes, prepareGuardInSteps } from '../leak_guard/index.ts'
import type { Steps } from '../outbound/steps.ts'
import type { Clock } from '../platform/clock.ts'
import { bindingOf, openBoundValue, type SealedSecret } from '../platform/crypto/secret_value.ts'
import { Fault } from '../platform/fault.ts'
import { LruMap } from '../platform/lru.ts'

export type GuardParts = {
  snapshots: SnapshotCache
  keys: KeyCache
  snapshot: Snapshot
  token: LiveToken
}

type Options = { seconds: number; clock: Clock; steps: Steps }

const MAX_GUARDS = 256
const SWEEP_MS = 1000
/** Values that are opened between two pauses: well under a millisecond. */
const OPENED_AT_ONCE = 32

export class GuardCache {
  readonly #steps: Steps
  readonly #isKept: boolean
  readonly #guards: LruMap<string, Guard>
  readonly #timer: Timer
  /**
   * What is being prepared, by where it reads: a decision under a lock must not wait for one that waits
   * for its connection.
   */
  readonly #pending = new WeakMap<SnapshotCache, Map<string, Promise<Guard>>>()
  /** Grows with every loss: what was opened before one is not kept after it. */
  #generation = 0

  constructor({ seconds, clock, steps }: Options) {
    this.#steps = steps
    this.#isKept = seconds > 0
    this.#guards = new LruMap({ max: MAX_GUARDS, expiry: { ms: seconds * 1000, clock } })
    this.#timer = setInterval(() => this.#guards.sweep(), SWEEP_MS)
    this.#timer.unref()
  }

  /** @throws StaleSnapshot */
  async of(parts: GuardParts, granted: readonly Granted[]): Promise<Guard> {
    const { workspaceId, policyVersion } = parts.snapshot
    const places = granted.map(({ projectId, environment }) => `${projectId}/${environment}`)
    const name = `${workspaceId}/${policyVersion}/${places.sort().join(',')}`
    return this.#guards.get(name) ?? (await this.#prepareOnce(name, parts, granted))
  }

  forget(workspaceId?: string): void {
    this.#generation += 1
    const prefix = workspaceId === undefined ? '' : `${workspaceId}/`
    for (const [name] of this.#guards) if (name.startsWith(prefix)) this.#guards.delete(name)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#guards.clear()
  }

  get size(): number {
    return this.#guards.size
  }

  #prepareOnce(name: string, parts: GuardParts, granted: readonly Granted[]): Promise<Guard> {
    const pending = this.#pending.get(parts.snapshots) ?? new Map<string, Promise<Guard>>()
    this.#pending.set(parts.snapshots, pending)
    const known = pending.get(name)
    if (known) return known
    const generation = this.#generation
    const guard = this.#prepare(parts, granted)
      .then((prepared) => {
        if (this.#isKept && generation === this.#generation) this.#guards.set(name, prepared)
        return prepared
      })
      .finally(() => pending.delete(name))
    pending.set(name, guard)
    return guard
  }

  async #prepare(parts: GuardParts, granted: readonly Granted[]): Promise<Guard> {
    const pause = () => this.#steps.pause(parts.snapshot.workspaceId)
    const values: NamedBytes[] = []
    for (const place of granted) values.push(...(await this.#open(parts, place, pause)))
    return prepareGuardInSteps(values, pause)
  }

  /** Settings are no secrets; what does not open cannot be used either. */
  async #open(
    parts: GuardParts,
    place: Granted,
    pause: () => Promise<void>,
  ): Promise<NamedBytes[]> {
    const { snapshots, snapshot, token } = parts
    const sealed = await snapshots.readEnvironment(snapshot, place.projectId, place.environment)
    const secrets = (sealed ?? []).filter(({ policy }) => policy?.sensitive !== false)
    const values: NamedBytes[] = []
    for (let from = 0; from < secrets.length; from += OPENED_AT_ONCE) {
      if (from > 0) await pause()
      // Asked for anew after each pause: the cached one may have been wiped.
      const key = await environmentKeyOf(parts, snapshot, token, place).catch(unopened)
      if (!key) return []
      const some = secrets.slice(from, from + OPENED_AT_ONCE)
      values.push(...some.flatMap((secret) => open(key.reveal(), secret)))
    }
    return values
  }
}

function unopened(error: unknown): null {
  if (error instanceof Fault && error.code === 'key_not_provisioned') return null
  throw error
}

function open(key: Uint8Array, sealed: SealedSecret): NamedBytes[] {
  const binding = bindingOf(sealed, sealed.policy)
  const value = binding && sealed.ciphertext && openBoundValue(key, binding, sealed.ciphertext)
  return value ? [{ name: sealed.key, bytes: value.reveal() }] : []
}
