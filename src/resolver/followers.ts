/**
 * Calls with an answer that may still arrive while a credential of their token is renewed. Their guards also cover the
 * new credential, because another call may store it at the API that this call reads from (protocol 13.4).
 */
import type { KeyCache } from '../access/keys.ts'
import { snapshotSince } from '../access/snapshots/snapshot_now.ts'
import type { SnapshotCache } from '../access/snapshots/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import { decideWhenRead } from '../core/async/unread.ts'
import { describeError, type Log } from '../core/log.ts'
import type { Guard } from '../leak_guard/index.ts'
import type { GuardCache } from './guards.ts'
import type { NamedScope } from './named_scope.ts'
import { TokenPermission } from './permission.ts'

/** An answer, or a request that waits for one. */
type Following = { readonly prepared: Guard; follow(guard: Guard): void }

type Follower = { token: LiveToken; scope: NamedScope; following: Following }

type Services = { snapshots: SnapshotCache; keys: KeyCache; guards: GuardCache; log: Log }

export class Followers {
  readonly #services: Services
  readonly #held = new Map<string, Set<Follower>>()

  constructor(services: Services) {
    this.#services = services
  }

  /** Follows a call until the returned function is called; `null` if the token may use no derived credential. */
  hold(follower: Follower): (() => void) | null {
    if (this.#services.guards.digestDerived(follower.following.prepared) === null) return null
    const { workspaceId } = follower.token
    const held = this.#held.get(workspaceId) ?? new Set()
    this.#held.set(workspaceId, held.add(follower))
    return () => {
      held.delete(follower)
      if (held.size === 0 && this.#held.get(workspaceId) === held) this.#held.delete(workspaceId)
    }
  }

  /** Updates the guards after a change of a workspace, or of all. Resolves when they cover all stored values. */
  async update(workspaceId?: string): Promise<void> {
    const changed = workspaceId === undefined ? [...this.#held.keys()] : [workspaceId]
    const followers = changed.flatMap((id) => [...(this.#held.get(id) ?? [])])
    for (const follower of followers) await this.#update(follower)
  }

  async #update({ token, scope, following }: Follower): Promise<void> {
    const { snapshots, keys, guards, log } = this.#services
    try {
      // Reads again if the workspace changes meanwhile.
      const guard = await snapshotSince({ snapshots }, token, 0, (snapshot) => {
        const parts = { snapshots, keys, guards, snapshot, token }
        const permission = new TokenPermission(parts, scope)
        return decideWhenRead(() => permission.guard())
      })
      if (guards.digestDerived(guard) !== guards.digestDerived(following.prepared))
        following.follow(guard)
    } catch (error) {
      // The token was revoked meanwhile, so its running calls end.
      log.warning('the leak guard of a running response could not be updated', describeError(error))
    }
  }
}
