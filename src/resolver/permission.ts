/**
 * A token's permissions, by one snapshot of its workspace: the allowlist, its scope, and the secrets that it was
 * given an envelope for.
 */
import { grantOf, keyNameOf, openEnvironmentKey } from '../access/environment_key.ts'
import type { KeyCache } from '../access/keys.ts'
import { buildSecretScopeFault, coversSecret, requireHost } from '../access/narrowed.ts'
import type { Snapshot, SnapshotCache } from '../access/snapshots/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import { Unread } from '../core/async/unread.ts'
import { openSealed, type SealedSecret } from '../core/crypto/secret_value.ts'
import { Fault } from '../core/fault.ts'
import { domainMatches } from '../core/net/domain.ts'
import { isHeld, type Policy } from '../core/policy/policy.ts'
import type { Secret } from '../core/secret.ts'
import type { Guard } from '../leak_guard/index.ts'
import { type IsPlaceable, NOTHING_PLACEABLE } from '../outbound/injection/locations.ts'
import type { ObtainedToken } from '../outbound/obtained_tokens.ts'
import type {
  ApprovalUse,
  CallPermission,
  CallScope,
  UsableSecret,
} from '../outbound/policy/permission.ts'
import { openPart, partNamed, withParts } from '../outbound/stand_ins/parts.ts'
import type { Target } from '../outbound/target.ts'
import { proveRoot, type StoredRoot } from '../renewal/derived_credential.ts'
import type { CallApproval } from './approval/call_approval.ts'
import { formatHeldName, type ReleasedValues } from './approval/released_values.ts'
import type { GuardCache } from './guards.ts'
import { type NamedScope, scopeFor } from './named_scope.ts'

type Parts = {
  snapshots: SnapshotCache
  keys: KeyCache
  snapshot: Snapshot
  token: LiveToken
  guards: Pick<GuardCache, 'get' | 'of' | 'remember'>
  /** Derives a root's credential. Without it, no value is decrypted. */
  derive?: (root: StoredRoot) => Secret
  /** The approval of the call. Without it, no held secret can be used. */
  approval?: CallApproval
}

export class TokenPermission implements CallPermission {
  readonly holder = 'this token'
  readonly #parts: Parts
  readonly #named: NamedScope
  /** The keys of this decision. Caches may drop them. */
  readonly #keys = new Map<string, Secret>()
  #guard: Guard | undefined
  #released: ReleasedValues = new Map()

  readonly derive: Parts['derive']

  constructor(parts: Parts, named: NamedScope) {
    this.#parts = parts
    this.derive = parts.derive
    this.#named = named
  }

  /** This first step also verifies signed state: state that does not verify is refused before the allowlist. */
  allows({ host, port }: Target): boolean {
    const { snapshots, snapshot, token } = this.#parts
    snapshots.requireVerified(snapshot, token)
    requireHost(token, host, port)
    return snapshot.allowlist.some((domain) => domainMatches(domain, host, port))
  }

  scope(): CallScope {
    return scopeFor(this.#parts.token, this.#named)
  }

  placeable(): IsPlaceable {
    const { projectId, environment } = this.scope()
    const { snapshots, snapshot } = this.#parts
    const secrets = snapshots.placeable(snapshot, environment)
    const places = secrets
      .filter((secret) => projectId === null || secret.projectId === projectId)
      .flatMap(({ key, locations }) => locations.map((location) => `${location}/${key}`))
    if (places.length === 0) return NOTHING_PLACEABLE
    const known = new Set(places)
    const isKnown = (name: string, style: string) => known.has(`${style}/${name}`)
    return (name, style) => isKnown(name, style) || isKnown(partNamed(name)?.base ?? '', style)
  }

  /** Also accepts parts of a secret that the token is limited to. */
  covers(name: string): boolean {
    const { token } = this.#parts
    return coversSecret(token, name) || coversSecret(token, partNamed(name)?.base ?? name)
  }

  /** @throws Fault `scope_required` for a name that a narrowed token is not for */
  secrets(names: readonly string[]): TokenSecret[] {
    if (names.length === 0) return []
    const other = names.find((name) => !this.covers(name))
    if (other !== undefined) throw buildSecretScopeFault(this.#parts.token, other)
    const { projectId, environment } = this.scope()
    const { snapshots, snapshot } = this.#parts
    const find = (wanted: readonly string[]) => {
      const usable: TokenSecret[] = []
      for (const sealed of snapshots.secrets(snapshot, environment, wanted)) {
        const isMeant = projectId === null || sealed.projectId === projectId
        // A secret with the name of another secret's part is a secret.
        if (isMeant && coversSecret(this.#parts.token, sealed.key))
          usable.push(new TokenSecret(this, sealed))
      }
      return usable
    }
    return withParts(names, find, (secret, name) => secret.as(name))
  }

  guard(): Guard {
    if (this.#guard) return this.#guard
    const { guards, snapshots, snapshot, token } = this.#parts
    const granted = snapshots.grants(snapshot, token.id)
    const known = guards.get(this.#parts, granted)
    if (known) return known
    throw new Unread(
      guards.of(this.#parts, granted).then((guard) => {
        this.#guard = guard
      }),
    )
  }

  remember(tokens: readonly ObtainedToken[]): void {
    if (tokens.length > 0) this.#parts.guards.remember(this.#parts.snapshot.workspaceId, tokens)
  }

  approve(use: ApprovalUse): void {
    const { approval, snapshot, snapshots } = this.#parts
    if (!approval) throw new Fault('approval_required')
    const sealed = [...use.secrets.values()].map((secret) => (secret as TokenSecret).sealed)
    const keyOf = (place: SealedSecret) => this.keyOf(place)
    const guard = () => this.guard()
    this.#released = approval.approve(use, sealed, { snapshot, snapshots, keyOf, guard })
  }

  /** @throws Fault `approval_required` for a value that was not released to this call */
  readReleasedValue(sealed: SealedSecret): Secret {
    const value = this.#released.get(formatHeldName(sealed))
    if (value) return value
    throw new Fault('approval_required', {
      message: 'Secrets that need approval cannot be used in WebSocket messages.',
    })
  }

  /** Returns a key for immediate use: the next change of the workspace may erase it. @throws Unread */
  keyOf(place: SealedSecret): Secret {
    const { keys, snapshot, token } = this.#parts
    const name = keyNameOf(snapshot, token, place)
    const known = this.#keys.get(name) ?? keys.get(name)
    if (known) return known
    throw new Unread(
      openEnvironmentKey(this.#parts, snapshot, token, place).then((key) =>
        this.#keys.set(name, key),
      ),
    )
  }

  /**
   * Checks that the token can still decrypt the environment, without decrypting it.
   *
   * @throws Fault `key_not_provisioned`
   * @throws StaleSnapshot
   */
  async confirmGrant(place: SealedSecret): Promise<void> {
    const { snapshots, snapshot, token } = this.#parts
    await grantOf(snapshots, snapshot, token, place)
  }
}

class TokenSecret implements UsableSecret {
  readonly #permission: TokenPermission
  readonly #sealed: SealedSecret
  /** Its name, or the name of a part of it. */
  readonly name: string

  constructor(permission: TokenPermission, sealed: SealedSecret, name = sealed.key) {
    this.#permission = permission
    this.#sealed = sealed
    this.name = name
  }

  as(name: string): TokenSecret {
    return new TokenSecret(this.#permission, this.#sealed, name)
  }

  get sealed(): SealedSecret {
    return this.#sealed
  }

  get projectId(): string {
    return this.#sealed.projectId
  }

  get policy(): Policy | null {
    return this.#sealed.policy
  }

  open(): Secret {
    const sealed = this.#sealed
    if (isHeld(sealed.policy)) return this.#part(this.#permission.readReleasedValue(sealed))
    const key = this.#permission.keyOf(sealed)
    if (sealed.policy?.kind) return this.#deriveFrom(this.#root(key))
    return this.#part(this.#openWith(key))
  }

  #part(value: Secret): Secret {
    return this.name === this.#sealed.key ? value : openPart(value, this.name)
  }

  prove(): void {
    proveRoot(this.#root(this.#permission.keyOf(this.#sealed)))
  }

  #root(key: Secret): StoredRoot {
    const open = () => this.#openWith(this.#permission.keyOf(this.#sealed))
    return { sealed: this.#sealed, key, open }
  }

  #openWith(key: Secret): Secret {
    const sealed = this.#sealed
    const value = openSealed(key.reveal(), sealed)
    if (value) return value
    throw new Fault('unreadable_secret', {
      message: `The secret ${sealed.key} cannot be decrypted. It was altered or sealed with another key.`,
    })
  }

  #deriveFrom(root: StoredRoot): Secret {
    const { derive } = this.#permission
    if (derive) return derive(root)
    throw new Error('a dry run cannot decrypt values')
  }

  confirmGrant(): Promise<void> {
    return this.#permission.confirmGrant(this.#sealed)
  }
}
