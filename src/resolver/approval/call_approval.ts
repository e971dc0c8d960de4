/**
 * The approval of one call (protocol 14.2): finds a matching release, or requests one and waits for it if the caller
 * asked for that. Refuses the call otherwise.
 */
import type { StoredRelease } from '../../access/snapshots/releases.ts'
import type { Snapshot, SnapshotCache } from '../../access/snapshots/snapshots.ts'
import type { LiveToken } from '../../access/tokens.ts'
import type { Approvals } from '../../approvals/approvals.ts'
import type { RequestState } from '../../approvals/request_store.ts'
import { Unread, UnreadBefore } from '../../core/async/unread.ts'
import type { Clock } from '../../core/clock.ts'
import { sealDetails } from '../../core/crypto/approval/details.ts'
import type { SealedSecret } from '../../core/crypto/secret_value.ts'
import { Fault } from '../../core/fault.ts'
import type { Secret } from '../../core/secret.ts'
import type { Guard } from '../../leak_guard/index.ts'
import { contentTypeOf } from '../../outbound/call.ts'
import type { ApprovalUse } from '../../outbound/policy/permission.ts'
import type { Target } from '../../outbound/target.ts'
import { type DescribedCall, describeCall } from './described_call.ts'
import { buildDeniedFault, buildRequiredFault, requireClean } from './refusals.ts'
import {
  fits,
  isSignedByApprover,
  isSingle,
  openReleased,
  type ReleasedValues,
  releaseEnd,
} from './released_values.ts'
import { toShownBody } from './shown_body.ts'

/** The call that is approved, and how it waits. */
export type ApprovalParts = {
  approvals: Approvals
  clock: Clock
  token: LiveToken
  callId: string
  /** Milliseconds; 0 refuses the call immediately. */
  waitMs: number
  reason: string | null
  signal: AbortSignal
  /** Runs while the call does not count as running, and its deadline is paused. */
  whileWaiting<T>(wait: () => Promise<T>): Promise<T>
  /** Discards the workspace's snapshot, which is outdated. */
  forgetSnapshot(): void
  faultOf(error: unknown): Fault
  /** Counts the call towards the limits of its token. @throws Fault `budget_exceeded` */
  beginCounting(): Promise<void>
  /** Records a new request. */
  recordRequest(approvalId: string, snapshot: Snapshot): Promise<void>
}

type Sight = {
  snapshot: Snapshot
  snapshots: SnapshotCache
  keyOf(place: SealedSecret): Secret
  /** Returns the guard of every value that the token may use. @throws Unread */
  guard(): Guard
}

/** Ends a call that waits too long for a decision. */
const MAX_LOOKS = 12

export class CallApproval {
  readonly #parts: ApprovalParts
  readonly #until: number
  #state: { digest: string; state: Exclude<RequestState, { kind: 'changed' | 'absent' }> } | null =
    null
  #looks = 0
  #fault: Fault | null = null
  #claimed: string | null = null
  readonly #opened = new Map<string, ReleasedValues>()
  /** The release that the call uses, or the request that it waits for. */
  approvalId: string | null = null
  /** The window that allows the call, with its end in milliseconds since 1970. */
  window: { id: string; until: number } | null = null

  constructor(parts: ApprovalParts) {
    this.#parts = parts
    this.#until = performance.now() + parts.waitMs
  }

  /**
   * The released values of the held secrets.
   *
   * @throws Unread, UnreadBefore while a release is read, claimed or waited for
   * @throws Fault `approval_required`, `approval_denied`, `rate_limited`, `validation_error`
   */
  approve(use: ApprovalUse, sealed: readonly SealedSecret[], sight: Sight): ReleasedValues {
    if (this.#fault) throw this.#fault
    const { token, reason } = this.#parts
    if (reason !== null) requireClean(reason, token, sight.guard())
    const { workspaceId } = sight.snapshot
    const described = describeCall(use, sealed, { workspaceId, tokenId: token.id }, sight.keyOf)
    const released = this.#listReleased(use, described, sight)
    if (released) return released
    const known = this.#state?.digest === described.digest ? this.#state.state : null
    this.approvalId = known?.id ?? null
    if (known === null) throw this.#toUnreadBefore(() => this.#ask(use, described, sight))
    if (known.kind === 'denied') throw buildDeniedFault(known, this.#parts.clock)
    if (!this.#mayWait()) throw buildRequiredFault(known)
    throw new UnreadBefore(() => this.#wait(known.id))
  }

  /** Overwrites the released values. */
  wipe(): void {
    for (const values of this.#opened.values())
      for (const value of values.values()) value.reveal().fill(0)
    this.#opened.clear()
  }

  #listReleased(use: ApprovalUse, described: DescribedCall, { snapshot, snapshots }: Sight) {
    const { token, clock } = this.#parts
    const now = clock.now()
    for (const release of snapshots.releases(snapshot, token.id)) {
      if (!this.#mayUse(release) || !fits(release, use, described, now)) continue
      const name = `${snapshot.policyVersion}/${release.id}`
      const values = this.#opened.get(name)
      if (values === undefined) throw new Unread(this.#open(name, release, described, snapshot))
      if (values.size === 0) continue
      this.#use(release)
      return values
    }
    return null
  }

  /** @throws UnreadBefore while a release of one call is claimed */
  #use(release: StoredRelease): void {
    const { id } = release
    if (isSingle(release) && this.#claimed !== id) throw this.#toUnreadBefore(() => this.#claim(id))
    this.approvalId = id
    this.window = isSingle(release) ? null : { id, until: releaseEnd(release) }
  }

  #mayUse({ id, isLive }: StoredRelease): boolean {
    const { approvals, callId } = this.#parts
    if (this.#claimed === id) return true
    if (!isLive) approvals.noteEnded(id)
    return isLive && !approvals.isUsed(id, callId)
  }

  /** Opens the released values; returns none if the release does not verify. */
  async #open(
    name: string,
    release: StoredRelease,
    { held }: DescribedCall,
    snapshot: Snapshot,
  ): Promise<void> {
    const isGood = await isSignedByApprover(release, snapshot, held)
    const { token } = this.#parts
    const values = isGood ? openReleased(release, token, snapshot.workspaceId, held) : null
    this.#opened.set(name, values ?? new Map())
  }

  /** Keeps the data of the decision unchanged. A fault is recorded, and refuses the call in the next decision. */
  #toUnreadBefore(read: () => Promise<unknown>): UnreadBefore {
    const attempt = () =>
      read().catch((error) => {
        this.#fault = this.#parts.faultOf(error)
      })
    return new UnreadBefore(attempt, { keepsSnapshot: true })
  }

  async #claim(id: string): Promise<void> {
    // A call over a limit of its token would waste the release.
    await this.#parts.beginCounting()
    if (await this.#parts.approvals.claim(id, this.#parts.callId)) this.#claimed = id
  }

  #mayWait(): boolean {
    const { approvals, token, signal } = this.#parts
    const hasTime = performance.now() < this.#until && !signal.aborted && this.#looks < MAX_LOOKS
    return hasTime && approvals.waiters.hasRoom({ tokenId: token.id, ...token })
  }

  async #wait(id: string): Promise<void> {
    const { approvals, token, signal, whileWaiting } = this.#parts
    const { workspaceId } = token
    const ms = Math.max(0, this.#until - performance.now())
    const waiting = { id, tokenId: token.id, workspaceId, signal, ms }
    try {
      await whileWaiting(() => approvals.waiters.wait(waiting))
    } catch (error) {
      // Refuses the call when the decision is repeated, and is recorded.
      this.#fault = this.#parts.faultOf(error)
    }
    this.#state = null
  }

  /** Finds the stored request for the call, or stores one. */
  async #ask(use: ApprovalUse, described: DescribedCall, sight: Sight): Promise<void> {
    const { snapshot } = sight
    const { approvals } = this.#parts
    const { digest } = described
    this.#looks += 1
    if (this.#looks > MAX_LOOKS) throw new Fault('unavailable')
    const request = this.#requestOf(use, described, snapshot)
    const state = await approvals.lookUp(request, snapshot.policyVersion)
    if (state.kind === 'changed') {
      this.#parts.forgetSnapshot()
      return
    }
    if (state.kind !== 'absent') {
      this.#state = { digest, state }
      return
    }
    if (await approvals.request(request)) await this.#parts.recordRequest(request.id, snapshot)
  }

  #requestOf(
    { call, asked, body }: ApprovalUse,
    { call: described, digest, used, held, key }: DescribedCall,
    { workspaceId }: Snapshot,
  ) {
    const { token, reason } = this.#parts
    const id = Bun.randomUUIDv7()
    const details = { call: described, body: body && toShownBody(body), reason }
    return {
      id,
      workspaceId,
      tokenId: token.id,
      registrationId: token.registrationId,
      agent: token.name,
      digest,
      host: (asked.target as Target).authority,
      method: asked.method,
      secrets: used.map(({ sealed: { projectId: project_id, environment, key: name } }, at) => ({
        ...{ project_id, environment, key: name },
        held: held.some((one) => one === used[at]),
      })),
      bodyBytes: body?.length ?? null,
      bodyType: body?.length ? (contentTypeOf(call.headers)?.slice(0, 200) ?? null) : null,
      details: sealDetails(key.reveal(), workspaceId, id, details),
    }
  }
}
