/**
 * Ends open calls that would no longer be allowed. Streams and WebSockets are checked again whenever the policy of
 * their workspace changes. They end when their token is no longer live, or when one of steps 3 to 6 refuses. A
 * notification triggers this immediately. A periodic check also works without notifications, and finds expired tokens.
 */
import type { KeyCache } from '../access/keys.ts'
import { type Snapshot, type SnapshotCache, StaleSnapshot } from '../access/snapshots/snapshots.ts'
import type { LiveToken, TokenCache } from '../access/tokens.ts'
import { type PendingTimer, systemTimers } from '../core/async/timers.ts'
import { decideWhenRead } from '../core/async/unread.ts'
import { Fault } from '../core/fault.ts'
import { describeError, type Log } from '../core/log.ts'
import { type Basis as CallBasis, judgeAgain } from '../outbound/policy/judge_again.ts'
import { Scheduler } from '../outbound/scheduler.ts'
import type { GuardCache } from './guards.ts'
import { TokenPermission } from './permission.ts'

/** The state that allowed a call. */
export type TokenBasis = CallBasis & {
  token: LiveToken
  /** The window of held secrets that allowed the call, if any. */
  windowId?: string | null
}

type OpenCall = {
  basis: TokenBasis
  end(fault: Fault): void
  /** The policy version of its last check. */
  judgedBy: number | null
}

type Services = {
  tokens: Pick<TokenCache, 'versions'>
  snapshots: SnapshotCache
  keys: KeyCache
  guards: Pick<GuardCache, 'get' | 'of' | 'remember'>
  log: Log
}

/** Milliseconds between two checks of all running calls. */
const SWEEP_MS = 5_000
/** Attempts while the policy keeps changing. The next periodic check then tries again. */
const MAX_ATTEMPTS = 5

export class LiveCalls {
  readonly #services: Services
  readonly #calls = new Map<string, Set<OpenCall>>()
  /** Workspaces being checked, and whether to check again because something changed meanwhile. */
  readonly #checks = new Map<string, { again: boolean }>()
  readonly #scheduler = new Scheduler()
  readonly #timer: PendingTimer

  constructor(services: Services, timers = systemTimers) {
    this.#services = services
    this.#timer = timers.setRepeating(SWEEP_MS, () => void this.#sweep())
  }

  /** Tracks a call until the returned function is called. `end` is called once, with the reason to end it. */
  hold(basis: TokenBasis, end: (fault: Fault) => void): () => void {
    const { workspaceId } = basis.token
    const calls = this.#calls.get(workspaceId) ?? new Set()
    this.#calls.set(workspaceId, calls)
    const call: OpenCall = { basis, end, judgedBy: null }
    calls.add(call)
    return () => {
      calls.delete(call)
      if (calls.size === 0 && this.#calls.get(workspaceId) === calls) {
        this.#calls.delete(workspaceId)
      }
    }
  }

  /** Open streams and WebSockets, and their workspaces. */
  get counts(): { calls: number; workspaces: number } {
    const calls = [...this.#calls.values()].reduce((sum, { size }) => sum + size, 0)
    return { calls, workspaces: this.#calls.size }
  }

  /** Call it after a change in one workspace, or possibly in any. */
  check(workspaceId?: string): void {
    const changed = workspaceId === undefined ? [...this.#calls.keys()] : [workspaceId]
    for (const id of changed) void this.#checkWorkspace(id)
  }

  close(): void {
    this.#timer.cancel()
  }

  /** One statement finds the calls with changes, which are then checked. */
  async #sweep(): Promise<void> {
    const calls = [...this.#calls.values()].flatMap((some) => [...some])
    if (calls.length === 0) return
    for (const call of calls)
      if (this.#services.snapshots.isOver(call.basis.token)) call.judgedBy = null
    try {
      const versions = await this.#versionsOf(calls)
      const changed = calls.filter(
        ({ basis, judgedBy }) => versions.get(basis.token.id) !== judgedBy,
      )
      for (const id of new Set(changed.map(({ basis }) => basis.token.workspaceId))) {
        this.check(id)
      }
    } catch (error) {
      this.#warn(error)
    }
  }

  async #checkWorkspace(workspaceId: string): Promise<void> {
    const running = this.#checks.get(workspaceId)
    if (running) running.again = true
    if (running || !this.#calls.has(workspaceId)) return
    const check = { again: true }
    this.#checks.set(workspaceId, check)
    try {
      while (check.again) {
        check.again = false
        await this.#judgeAll([...(this.#calls.get(workspaceId) ?? [])])
      }
    } catch (error) {
      // The next check tries again: a database that is temporarily unavailable does not end open calls.
      this.#warn(error)
    } finally {
      this.#checks.delete(workspaceId)
    }
  }

  /** Checks all calls of one workspace. Revoked and expired tokens come first: they need no policy. */
  async #judgeAll(calls: readonly OpenCall[]): Promise<void> {
    if (calls.length === 0) return
    const versions = await this.#versionsOf(calls)
    for (const { basis, end } of calls) {
      if (!versions.has(basis.token.id)) end(new Fault('invalid_token'))
    }
    for (const call of calls) {
      const { id, workspaceId } = call.basis.token
      const version = versions.get(id)
      if (version === undefined || version === call.judgedBy) continue
      // Many streams of one workspace are not checked without pauses: other work runs in between.
      await this.#scheduler.take(workspaceId)
      await this.#judge(call, version)
    }
  }

  async #judge(call: OpenCall, version: number): Promise<void> {
    const { snapshots, keys, guards } = this.#services
    const { token, scope } = call.basis
    const { workspaceId } = token
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      try {
        const snapshot = await snapshots.of(workspaceId)
        if (snapshot.policyVersion < version) throw new StaleSnapshot()
        const permission = new TokenPermission({ snapshots, keys, guards, snapshot, token }, scope)
        await judgeAgain(permission, call.basis, (secret) => secret.confirmGrant())
        await this.#requireWindow(snapshot, call.basis)
        call.judgedBy = snapshot.policyVersion
        return
      } catch (error) {
        if (error instanceof Fault && error.status < 500) return this.#end(call, error)
        if (!(error instanceof StaleSnapshot)) throw error
        snapshots.forget(workspaceId)
      }
    }
  }

  /** @throws Fault `approval_required` for a window that was revoked */
  async #requireWindow(snapshot: Snapshot, { token, windowId }: TokenBasis): Promise<void> {
    if (!windowId) return
    const releases = await decideWhenRead(() =>
      this.#services.snapshots.releases(snapshot, token.id),
    )
    const isOpen = releases.some(({ id, isLive }) => id === windowId && isLive)
    if (!isOpen) throw new Fault('approval_required')
  }

  /** A revoke also removes the grants: a revoked token is the better reason. */
  async #end(call: OpenCall, fault: Fault): Promise<void> {
    const versions = await this.#versionsOf([call])
    call.end(versions.has(call.basis.token.id) ? fault : new Fault('invalid_token'))
  }

  #versionsOf(calls: readonly OpenCall[]): Promise<Map<string, number>> {
    return this.#services.tokens.versions([...new Set(calls.map(({ basis }) => basis.token.id))])
  }

  #warn(error: unknown): void {
    this.#services.log.warning('running calls could not be rechecked', describeError(error))
  }
}
