/**
 * Renews derived credentials (protocol 13.3). One process at a time holds a secret's lease, and the calls of a process
 * share one renewal. A sent request completes: no caller that disconnects, no deadline and no shutdown cancels it.
 */
import type { AuditTrail } from '../audit/trail.ts'
import type { Timers } from '../core/async/timers.ts'
import type { SecretPlace } from '../core/crypto/secret_value.ts'
import { Fault } from '../core/fault.ts'
import { describeError, type Log } from '../core/log.ts'
import { LruMap } from '../core/lru.ts'
import {
  buildRequest,
  type Outcome,
  readOutcome,
  type TokenRequest,
} from '../derivation/derivation.ts'
import { buildNextState, sealState } from '../derivation/state.ts'
import type { Notices } from '../notices/notices.ts'
import {
  type PreparedTokenRequest,
  prepareTokenRequest,
  type TokenOutbound,
} from '../outbound/connection/token_request.ts'
import { DerivationRecord } from './derivation_record.ts'
import type { LeaseResult, Leases } from './leases.ts'
import { type NamedDerived, nameOf, type Renewal, rowOf, type SentRequest } from './renewal.ts'
import { buildFinalNotice, faultOfFailure } from './renewal_faults.ts'

type Parts = {
  leases: Leases
  trail: Pick<AuditTrail, 'record' | 'conclude'>
  outbound: TokenOutbound
  notices: Pick<Notices, 'announce'>
  timers: Timers
  log: Log
  /** Called when a workspace's state changed: its cache is read again, without any other notice. */
  onChange(workspaceId: string): Promise<void>
}

type Taken = Extract<LeaseResult, { kind: 'taken' }>

/** Milliseconds of a lease, and from the moment at which a refresh token may leave. */
const LEASE_MS = 30_000
const SENT_LEASE_MS = 300_000
/** Milliseconds between that moment and the last one at which the token leaves. */
const SEND_WITHIN_MS = 5_000
/** Milliseconds between two looks at the lease of another process, and of all of them together. */
const POLL_MS = 500
const MAX_WAIT_MS = 60_000
/** Attempts to store a result, one a second. */
const STORE_ATTEMPTS = 60
const MAX_FAULTS = 10_000

export class Renewals {
  readonly #parts: Parts
  readonly #running = new Map<string, Promise<void>>()
  /** The fault of a secret that is not renewed, and until when it holds by `performance.now()`. */
  readonly #faults = new LruMap<string, { fault: Fault; until: number }>({ max: MAX_FAULTS })

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The fault of the last renewal, until the next may be tried. */
  faultOf(named: NamedDerived): Fault | null {
    const known = this.#faults.get(nameOf(named))
    return known && known.until > performance.now() ? known.fault : null
  }

  /**
   * Resolves when the state has changed, or when `faultOf` returns why it has not. @throws Fault `audit_unavailable`,
   * `unavailable`
   */
  renew(renewal: Renewal): Promise<void> {
    const name = nameOf(renewal)
    const known = this.#running.get(name)
    if (known) return known
    const running = this.#renew(renewal).finally(() => this.#running.delete(name))
    this.#running.set(name, running)
    return running
  }

  /** Renews a credential that is still in use. A failure is logged only. */
  renewInBackground(named: NamedDerived, build: () => Renewal): void {
    if (this.#running.has(nameOf(named)) || this.faultOf(named)) return
    const renewing = Promise.try(() => this.renew(build()))
    renewing.catch((error) => this.#warn('a credential could not be renewed', error))
  }

  /** Expires a credential after an API answered 401, if it is old enough (protocol 13.3). */
  expire(workspaceId: string, place: SecretPlace, generation: number): void {
    const { leases, onChange } = this.#parts
    const expiring = leases
      .expireCredential({ workspaceId, ...place }, generation)
      .then((isExpired) => (isExpired ? onChange(workspaceId) : undefined))
    expiring.catch((error) => this.#warn('a rejected credential could not be expired', error))
  }

  /** Resolves when no renewal is running. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running.values())
  }

  #warn(message: string, error: unknown): void {
    this.#parts.log.warning(message, describeError(error))
  }

  async #renew(renewal: Renewal): Promise<void> {
    const { leases, timers } = this.#parts
    const { policyVersion, generation } = renewal
    const request = { leaseMs: LEASE_MS, generation, tokenId: renewal.token.id, policyVersion }
    const until = performance.now() + MAX_WAIT_MS
    for (;;) {
      const lease = await leases.takeLease(rowOf(renewal), request)
      if (lease.kind === 'stale') return
      if (lease.kind === 'taken') return this.#derive(renewal, lease)
      if (lease.kind !== 'busy' || performance.now() > until)
        return this.#keepFault(renewal, faultOfFailure(renewal.place.key, lease))
      await timers.sleep(POLL_MS)
    }
  }

  async #derive(renewal: Renewal, lease: Taken): Promise<void> {
    const sent = await this.#sendOnRecord(renewal, lease).catch(async (error) => {
      await this.#release(renewal, lease)
      throw error
    })
    if (sent === null) return this.#release(renewal, lease)
    const { outcome, derivedAt, mayBeSpent } = sent
    await this.#storeInTime(() =>
      outcome.kind === 'derived'
        ? this.#storeState(renewal, lease, outcome, derivedAt)
        : this.#storeFailure(renewal, lease, outcome, mayBeSpent),
    )
  }

  /** `null`, or an error, if nothing was sent. */
  async #sendOnRecord(renewal: Renewal, lease: Taken): Promise<SentRequest | null> {
    const { trail } = this.#parts
    const request = await buildRequest(renewal.root, renewal.state, lease.now)
    const record = new DerivationRecord(renewal, request)
    if ((await trail.record(record.entry)) === 'stale') return null
    const sent = await this.#send(renewal, request, lease)
    const { outcome, status } = sent ?? { outcome: { code: 'conflict' }, status: null }
    trail.conclude(record.conclusion('code' in outcome ? outcome.code : null, status))
    return sent
  }

  /** Gives back the lease, and the mark that this process set, because nothing was sent. */
  async #release(renewal: Renewal, lease: Taken): Promise<void> {
    const releasing = this.#parts.leases.releaseLease(rowOf(renewal), lease)
    await releasing.catch((error) => this.#warn('a lease could not be released', error))
  }

  /** `null` where the lease was lost, and nothing was sent. */
  async #send(renewal: Renewal, request: TokenRequest, lease: Taken): Promise<SentRequest | null> {
    const { token, workspaceId, root } = renewal
    const owner = { workspaceId, tokenId: token.id }
    const started = performance.now()
    const readNow = () => lease.now + performance.now() - started
    let prepared: PreparedTokenRequest
    try {
      prepared = await prepareTokenRequest(this.#parts.outbound, owner, request)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      return {
        outcome: { kind: 'retry', code: error.code, retryAfterS: null },
        status: null,
        derivedAt: 0,
        mayBeSpent: false,
      }
    }
    if (request.spendsRefreshToken && !(await this.#mayStillSend(renewal, lease))) return null
    const derivedAt = Math.round(readNow())
    const answer = await prepared.send()
    const status = typeof answer === 'string' ? null : answer.status
    const outcome = readOutcome(root, answer, request, readNow())
    // A request without an answer, or whose answer has no credential, may have replaced the refresh token.
    const mayBeSpent = request.spendsRefreshToken && (status === null || status < 300)
    return { outcome, status, derivedAt, mayBeSpent }
  }

  /** Marks durably that the refresh token leaves. A process that stalled until the lease may be another's sends nothing. */
  async #mayStillSend(renewal: Renewal, { leaseId }: Taken): Promise<boolean> {
    const started = performance.now()
    const time = await this.#parts.leases.extendLease(rowOf(renewal), leaseId, SENT_LEASE_MS)
    return time !== null && performance.now() - started < SEND_WITHIN_MS
  }

  async #storeState(
    renewal: Renewal,
    { generation }: Taken,
    outcome: Extract<Outcome, { kind: 'derived' }>,
    derivedAt: number,
  ): Promise<void> {
    const { place, stateKey, state } = renewal
    const next = buildNextState(state, outcome, derivedAt, derivedAt)
    const sealedState = sealState(stateKey.reveal(), { ...place, generation: generation + 1 }, next)
    await this.#parts.leases.storeState(rowOf(renewal), {
      expectedGeneration: generation,
      sealedState,
      derivedAt,
      expiresInMs: outcome.lifetimeS * 1000,
    })
    await this.#parts.onChange(renewal.workspaceId)
  }

  async #storeFailure(
    renewal: Renewal,
    { generation, leaseId, wasSent }: Taken,
    outcome: Exclude<Outcome, { kind: 'derived' }>,
    mayBeSpent: boolean,
  ): Promise<void> {
    const isFinal = outcome.kind === 'final'
    const mayHaveLost = wasSent || mayBeSpent
    const stored = await this.#parts.leases.storeFailure(rowOf(renewal), {
      expectedGeneration: generation,
      leaseId,
      code: outcome.code,
      isFinal,
      retryAfterS: isFinal ? null : outcome.retryAfterS,
      mayHaveLost,
    })
    if (stored === null) return
    const { failedAt, retryAt } = stored
    if (isFinal) void this.#parts.notices.announce(renewal.workspaceId, buildFinalNotice(renewal))
    const failure = isFinal
      ? ({ kind: 'final', failedAt, code: outcome.code, mayHaveLost } as const)
      : ({ kind: 'waiting', retryAt: retryAt ?? failedAt } as const)
    this.#keepFault(renewal, faultOfFailure(renewal.place.key, failure, failedAt))
  }

  /** A rotated refresh token that is not stored is lost, so a database that is unavailable is tried again. */
  async #storeInTime(store: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await store()
      } catch (error) {
        if (attempt === STORE_ATTEMPTS) throw error
        await this.#parts.timers.sleep(1000)
      }
    }
  }

  #keepFault(named: NamedDerived, { fault, waitMs }: ReturnType<typeof faultOfFailure>): void {
    this.#faults.set(nameOf(named), { fault, until: performance.now() + waitMs })
  }
}
