/** The caller of the resolver: a token, as outbound/execute.ts needs it. */
import { decideDurably, orRefusal } from '../access/decide.ts'
import { entryOf } from '../access/entry.ts'
import type { Decided } from '../access/locked_decision.ts'
import type { Snapshot, SnapshotCache } from '../access/snapshots/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import { rejectWhenAborted } from '../core/async/timeout.ts'
import { UnreadBefore } from '../core/async/unread.ts'
import type { BodyAccount } from '../core/body_memory.ts'
import type { SealedSecret } from '../core/crypto/secret_value.ts'
import { Fault } from '../core/fault.ts'
import { getCurrentSpan, type Span } from '../core/trace/span.ts'
import { toFault } from '../http/unexpected_error.ts'
import type { Owner } from '../outbound/connection/session_pool.ts'
import type { CallDeadline } from '../outbound/deadline.ts'
import type { Attempt, CallerConnection, Principal } from '../outbound/execute.ts'
import { OutboundRequest } from '../outbound/outbound_request.ts'
import { basisOf } from '../outbound/policy/judge_again.ts'
import type { CallRecord, Conclusion } from '../outbound/record.ts'
import type { Traffic } from '../outbound/traffic/traffic.ts'
import { type StoredRoot, toDerivedCredential } from '../renewal/derived_credential.ts'
import { CallApproval } from './approval/call_approval.ts'
import type { CallPlace } from './call_place.ts'
import type { LimitedCall } from './limits/limited_call.ts'
import type { NamedScope } from './named_scope.ts'
import { TokenPermission } from './permission.ts'
import type { ResolverServices } from './services.ts'

export type TokenCaller = {
  token: LiveToken
  record: CallRecord
  scope: NamedScope
  deadline: CallDeadline
  /** Whether its response may take longer. */
  isLong: boolean
  /** A WebSocket or gRPC. */
  isConversation: boolean
  connection: CallerConnection
  /** Headers of an answer that is wrapped in JSON. */
  headers: Record<string, string>
  bodies: BodyAccount
  running: CallPlace
  /** How long the call waits for an approval, in milliseconds, and the caller's reason for the approver. */
  approval: { waitMs: number; reason: string | null }
  /** Only for a token with limits. */
  limited: LimitedCall | null
}

export class TokenPrincipal implements Principal {
  readonly owner: Owner
  readonly connection: CallerConnection
  readonly headers: Record<string, string>
  readonly bodies: BodyAccount
  readonly #services: ResolverServices
  readonly #caller: TokenCaller
  /** The secrets whose derived credentials the call uses. */
  #derived: readonly SealedSecret[] = []
  /** The fault if no credential was available in time. */
  #lateFault: Fault | null = null
  readonly #approval: CallApproval
  /** The span from the sending to the end of the answer. */
  readonly #call: Span | undefined

  constructor(services: ResolverServices, caller: TokenCaller) {
    this.#services = services
    this.#caller = caller
    this.owner = { workspaceId: caller.token.workspaceId, tokenId: caller.token.id }
    this.connection = caller.connection
    this.headers = caller.headers
    this.bodies = caller.bodies
    this.#approval = this.#openApproval()
    this.#call = getCurrentSpan()?.child('call', {}, 'client')
  }

  get traffic(): Traffic | undefined {
    return this.#caller.limited ?? undefined
  }

  /** The trace context of the sent call, if it is traced. */
  get traceparent(): string | null {
    return this.#call?.traceparent ?? null
  }

  withRecord(record: CallRecord): TokenPrincipal {
    return new TokenPrincipal(this.#services, { ...this.#caller, record, limited: null })
  }

  async decide<T extends object>(attempt: Attempt<T>): Promise<T> {
    const { token, record, deadline, isLong } = this.#caller
    const request = await decideDurably(this.#services, token, (snapshot, snapshots) =>
      this.#decideBy(snapshot, snapshots, attempt),
    )
    if (request instanceof OutboundRequest) {
      const { scope } = this.#caller
      const release = this.#services.followers.hold({ token, scope, following: request })
      if (release) deadline.afterwards(release)
    }
    // A long call ends when it is no longer permitted.
    const basis = isLong ? basisOf(record) : null
    const { liveCalls } = this.#services
    const end = (fault: Fault) => deadline.refuse(fault)
    const window = this.#approval.window
    const windowId = window?.id ?? null
    if (basis) deadline.afterwards(liveCalls.hold({ token, ...basis, windowId }, end))
    if (window && this.#caller.isConversation) this.#endWith(window)
    this.#call?.begin().set(describeTarget(record))
    return request
  }

  /** Reads the headers only for a traced call, because reading them takes time. */
  recordReceived(response: Response): void {
    if (response.status === 401) this.#expireDerived()
    if (!this.#call) return
    const { status, headers } = response
    this.#call.note('first byte')
    const length = Number(headers.get('content-length') ?? Number.NaN)
    this.#call.set({
      'http.response.status_code': status,
      'http.response.body.size': Number.isSafeInteger(length) ? length : null,
    })
  }

  conclude(conclusion: Conclusion): void {
    const { decision, reason, redacted } = conclusion
    this.#call?.set({ 'cloakroom.redacted': redacted, 'error.type': reason })
    this.#call?.end(decision === 'error')
    this.#caller.limited?.settle(conclusion)
    this.#services.trail.conclude({ id: this.#caller.record.id, ...conclusion })
  }

  faultOf(error: unknown): Fault {
    return toFault(error, this.#caller.record.id, this.#services.log)
  }

  #decideBy<T extends object>(snapshot: Snapshot, snapshots: SnapshotCache, attempt: Attempt<T>) {
    const { keys, guards, renewals, outbound } = this.#services
    const { token, scope } = this.#caller
    if (this.#lateFault) return this.#finishDecision<T>(this.#lateFault, snapshot)
    const waitFor = (renewal: Promise<void>) => this.#waitFor(renewal)
    const deriving = { renewals, clock: outbound.clock, snapshot, token, waitFor }
    const derived: SealedSecret[] = []
    this.#derived = derived
    const derive = (root: StoredRoot) => {
      derived.push(root.sealed)
      return toDerivedCredential(deriving, root)
    }
    const approval = this.#approval
    const parts = { snapshots, keys, guards, snapshot, token, derive, approval }
    const decision = attempt(new TokenPermission(parts, scope))
    const isShared = snapshots === this.#services.snapshots
    const finishDecision = (result: T | Fault) => this.#applyLimits(result, snapshot, isShared)
    return decision instanceof Promise ? decision.then(finishDecision) : finishDecision(decision)
  }

  /**
   * Counts an allowed call, directly before its record. If the decision holds a lock on the workspace, the lock is
   * freed first.
   */
  #applyLimits<T extends object>(result: T | Fault, snapshot: Snapshot, isShared: boolean) {
    const { limited } = this.#caller
    if (!limited || limited.hasBegun || result instanceof Fault)
      return this.#finishDecision(result, snapshot)
    const begin = () => orRefusal(() => limited.begin())
    if (!isShared) throw new UnreadBefore(begin)
    return begin().then((refusal) => this.#finishDecision(refusal || result, snapshot))
  }

  #openApproval(): CallApproval {
    const { token, record, deadline, running, approval, limited } = this.#caller
    const { approvals, outbound, snapshots } = this.#services
    const opened = new CallApproval({
      ...{ approvals, token, ...approval },
      clock: outbound.clock,
      callId: record.id,
      signal: deadline.signal,
      whileWaiting: (wait) => running.waitWithoutPlace(wait),
      forgetSnapshot: () => snapshots.forget(token.workspaceId),
      faultOf: (error) => this.faultOf(error),
      beginCounting: async () => limited?.begin(),
      recordRequest: (id, snapshot) => this.#recordRequest(id, snapshot),
    })
    deadline.afterwards(() => opened.wipe())
    return opened
  }

  /** Records the approval request in addition to its call. */
  async #recordRequest(approvalId: string, { policyVersion }: Snapshot): Promise<void> {
    const { token, record } = this.#caller
    const { projectId, environment, method, target, uses } = record
    const known = { projectId, environment, method, target, uses, approvalId }
    const conclusion = { ...record.outcome(201, false), decision: 'allowed' as const }
    const entry = entryOf(
      token,
      policyVersion,
      { ...known, id: Bun.randomUUIDv7(), startedAt: new Date(), action: 'approval.requested' },
      conclusion,
    )
    await this.#services.trail.record(entry)
  }

  /** A stream can send more data while it lasts, so it ends with its window. */
  #endWith({ until }: { until: number }): void {
    const { timers, outbound } = this.#services
    const { deadline } = this.#caller
    const refuse = () => deadline.refuse(new Fault('approval_required'))
    const timer = timers.setTimer(Math.max(0, until - outbound.clock.now()), refuse)
    deadline.afterwards(() => timer.cancel())
  }

  #expireDerived(): void {
    const { workspaceId } = this.owner
    for (const { derived, ...place } of this.#derived)
      if (derived) this.#services.renewals.expire(workspaceId, place, derived.generation)
  }

  /** Waits for a renewal, which continues after the call. A call that did not get it is refused and recorded. */
  async #waitFor(renewal: Promise<void>): Promise<void> {
    const { signal } = this.#caller.deadline
    await rejectWhenAborted(renewal, signal, () => new Fault('upstream_timeout')).catch((error) => {
      this.#lateFault = this.faultOf(error)
    })
  }

  #announce({ code }: Fault): void {
    const { token, record } = this.#caller
    const { id: tokenId, workspaceId, registrationId, name } = token
    const { method, target, uses } = record
    const host = target?.domain ?? null
    const secrets = uses.map((use) => use.name)
    const caller = { workspaceId, tokenId, registrationId, name }
    this.#services.refusalNotices.note({ ...caller, host, method, secrets, code })
  }

  #finishDecision<T extends object>(result: T | Fault, { policyVersion }: Snapshot): Decided<T> {
    const { token, record, deadline } = this.#caller
    record.approvalId = this.#approval.approvalId
    const refusal = result instanceof Fault ? record.refusal(result, deadline.isUnwanted) : null
    if (result instanceof Fault && !deadline.isUnwanted) this.#announce(result)
    return { result, entry: entryOf(token, policyVersion, record, refusal) }
  }
}

/** Returns the target as in the audit, without the path. */
function describeTarget({ method, target }: CallRecord) {
  return {
    'http.request.method': method,
    'server.address': target?.host,
    'server.port': target?.port,
  }
}
