/**
 * What a token may use, by one snapshot of its workspace: the allowlist, its scope, and of the secrets
 * there those for which it was given an envelope.
 */
import { environmentKeyOf, grantOf } from '../access/environment_key.ts'
import type { KeyCache } from '../access/keys.ts'
import type { Granted } from '../access/snapshot.ts'
import type { Snapshot, SnapshotCache } from '../access/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import type { Guard } from '../leak_guard/index.ts'
import type { IsPlaceable } from '../outbound/locations.ts'
import type { Permission, Scope, UsableSecret } from '../outbound/permission.ts'
import type { Target } from '../outbound/target.ts'
import { openSealed, type SealedSecret } from '../platform/crypto/secret_value.ts'
import { Fault } from '../platform/fault.ts'
import { domainMatches } from '../platform/net/domain.ts'
import type { Policy } from '../platform/policy.ts'
import type { Secret } from '../platform/secret.ts'
import type { GuardCache } from './guards.ts'

/** The scope that a call names; `null` where it leaves it to its token. */
export type NamedScope = { projectId: string | null; environment: string | null }

type Parts = {
  snapshots: SnapshotCache
  keys: KeyCache
  snapshot: Snapshot
  token: LiveToken
  guards: Pick<GuardCache, 'of'>
}

export class TokenPermission implements Permission {
  readonly holder = 'this token'
  readonly #parts: Parts
  readonly #named: NamedScope

  constructor(parts: Parts, named: NamedScope) {
    this.#parts = parts
    this.#named = named
  }

  allows({ host, port }: Target): boolean {
    return this.#parts.snapshot.allowlist.some((domain) => domainMatches(domain, host, port))
  }

  scope(): Scope {
    const { token } = this.#parts
    const { projectId, environment } = this.#named
    const contradicts = (own: string | null, named: string | null) =>
      own !== null && named !== null && own !== named
    if (contradicts(token.projectId, projectId) || contradicts(token.environment, environment)) {
      throw new Fault('scope_required')
    }
    return {
      projectId: token.projectId ?? projectId,
      environment: token.environment ?? environment ?? 'development',
    }
  }

  /** @throws StaleSnapshot */
  async placeable(): Promise<IsPlaceable> {
    const { projectId, environment } = this.scope()
    const { snapshots, snapshot } = this.#parts
    const secrets = await snapshots.placeable(snapshot, environment)
    const places = secrets
      .filter((secret) => projectId === null || secret.projectId === projectId)
      .flatMap(({ key, locations }) => locations.map((location) => `${location}/${key}`))
    const known = new Set(places)
    return (name, style) => known.has(`${style}/${name}`)
  }

  /** @throws StaleSnapshot */
  async secrets(names: readonly string[]): Promise<TokenSecret[]> {
    if (names.length === 0) return []
    const { projectId, environment } = this.scope()
    const { snapshots, snapshot } = this.#parts
    const stored = await snapshots.secrets(snapshot, environment, names)
    return stored
      .filter((sealed) => projectId === null || sealed.projectId === projectId)
      .map((sealed) => new TokenSecret(this.#parts, sealed))
  }

  /** @throws StaleSnapshot */
  async guard(hasNames: boolean): Promise<Guard> {
    const { guards, ...parts } = this.#parts
    const { projectId, environment } = this.scope()
    const granted = await parts.snapshots.grants(parts.snapshot, parts.token.id)
    const isInScope = (place: Granted) =>
      place.environment === environment && (projectId === null || place.projectId === projectId)
    return guards.of(parts, hasNames ? granted.filter(isInScope) : granted)
  }
}

class TokenSecret implements UsableSecret {
  readonly #parts: Parts
  readonly #sealed: SealedSecret

  constructor(parts: Parts, sealed: SealedSecret) {
    this.#parts = parts
    this.#sealed = sealed
  }

  get name(): string {
    return this.#sealed.key
  }

  get projectId(): string {
    return this.#sealed.projectId
  }

  get policy(): Policy | null {
    return this.#sealed.policy
  }

  /** @throws StaleSnapshot */
  async open(): Promise<Secret> {
    const { snapshot, token } = this.#parts
    const sealed = this.#sealed
    const key = await environmentKeyOf(this.#parts, snapshot, token, sealed)
    const value = openSealed(key.reveal(), sealed)
    if (value) return value
    throw new Fault('unreadable_secret', {
      message: `The secret ${sealed.key} cannot be decrypted: it was altered or sealed under another key.`,
    })
  }

  /**
   * Whether the token may still open it, without opening it.
   *
   * @throws Fault `key_not_provisioned`
   * @throws StaleSnapshot
   */
  async confirmGrant(): Promise<void> {
    const { snapshots, snapshot, token } = this.#parts
    await grantOf(snapshots, snapshot, token, this.#sealed)
  }
}
