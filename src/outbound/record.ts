/**
 * The known facts about one call or delivery, collected during its steps: names and ids, never a value. Each
 * destination turns them into audit records in one place.
 */
import type { Fault, RefusedBy } from '../core/fault.ts'
import type { Unfilled } from '../core/policy/unfilled.ts'
import { MAX_NAMES } from './injection/budget.ts'
import type { Placeholder } from './injection/placeholders.ts'
import { type CallScope, namesOf } from './policy/permission.ts'
import type { AskedRequest } from './policy/policy.ts'
import type { Target } from './target.ts'

/** How a call ended, under the names that audit records have. */
export type Conclusion = {
  decision: 'allowed' | 'blocked' | 'error'
  reason: string | null
  refused_by?: RefusedBy
  status_code: number
  duration_ms: number
  redacted: boolean
}

type Use = { name: string; style: Placeholder['style'] | 'env' }
type Start = { id: string; projectId: string | null; environment: string | null }

export class CallRecord {
  readonly id: string
  readonly startedAt = new Date()
  readonly #started = performance.now()
  #projectId: string | null
  #environment: string | null
  #asked: AskedRequest | null = null
  #placeholders: readonly Placeholder[] = []
  #delivered: readonly string[] = []
  #unfilled: readonly Unfilled[] = []
  /** The release that the call uses, or the request that it waits for. */
  approvalId: string | null = null

  /** The request's own id, a UUID of version 7, is the record's id too. */
  constructor({ id, projectId, environment }: Start) {
    this.id = id
    this.#projectId = projectId
    this.#environment = environment
  }

  get projectId(): string | null {
    return this.#projectId
  }

  get environment(): string | null {
    return this.#environment
  }

  get method(): string | null {
    return this.#asked?.method ?? null
  }

  get target(): Target | null {
    return this.#asked?.target ?? null
  }

  /** `null` if the record is not of a call. */
  get asked(): AskedRequest | null {
    return this.#asked
  }

  get placeholders(): readonly Placeholder[] {
    return this.#placeholders
  }

  /** Every pair of name and style once, in order of first use. For a call with too many names, only the first ones. */
  get uses(): Use[] {
    if (this.#delivered.length > 0) return this.#delivered.map((name) => ({ name, style: 'env' }))
    const names = namesOf(this.#placeholders).slice(0, MAX_NAMES)
    const uses: Use[] = []
    for (const { name, style } of this.#placeholders) {
      const isKnown = uses.some((use) => use.name === name && use.style === style)
      if (!isKnown && names.includes(name)) uses.push({ name, style })
    }
    return uses
  }

  /** Placeholders that went out as text. */
  get unfilled(): readonly Unfilled[] {
    return this.#unfilled
  }

  leaves(unfilled: readonly Unfilled[]): void {
    this.#unfilled = unfilled
  }

  sees(asked: AskedRequest): void {
    this.#asked = asked
  }

  asks({ projectId, environment }: CallScope, placeholders: readonly Placeholder[]): void {
    this.#projectId = projectId
    this.#environment = environment
    this.#placeholders = placeholders
  }

  /** Without a project in its scope, it names the project of its secrets. */
  finds(secrets: Iterable<{ projectId: string }>): void {
    if (this.#projectId !== null) return
    const [first, ...others] = [...secrets].map(({ projectId }) => projectId)
    if (first !== undefined && others.every((other) => other === first)) this.#projectId = first
  }

  /** Records an environment's delivery: its secrets are sent by name, without a request. */
  delivers({ projectId, environment }: CallScope, names: readonly string[]): void {
    this.#projectId = projectId
    this.#environment = environment
    this.#delivered = names
  }

  outcome(statusCode: number, redacted: boolean): Conclusion {
    return {
      decision: 'allowed',
      reason: null,
      status_code: statusCode,
      duration_ms: Math.round(performance.now() - this.#started),
      redacted,
    }
  }

  /**
   * Concludes a call with nothing sent. Refusals by the workspace's rules (403) and the token's limits are `blocked`,
   * all others errors. If the caller disconnected meanwhile, a failure is due to that.
   */
  refusal(fault: Fault, isCallerGone = false): Conclusion {
    const { status } = fault
    if (isCallerGone && status >= 500) return this.abandonment()
    const isBlocked = status === 403 || fault.code === 'budget_exceeded'
    const decision = isBlocked ? 'blocked' : 'error'
    return { ...this.outcome(status, false), decision, ...reasonOf(fault) }
  }

  /** Concludes an allowed call that failed: it is never `blocked`, even if the workspace's rules ended it. */
  failure(fault: Fault, redacted = false): Conclusion {
    return { ...this.outcome(fault.status, redacted), decision: 'error', ...reasonOf(fault) }
  }

  /** The caller disconnected before the response: 499, which is never received. */
  abandonment(): Conclusion {
    return { ...this.outcome(499, false), decision: 'error', reason: 'caller_gone' }
  }
}

function reasonOf({ code, refusedBy }: Fault): Pick<Conclusion, 'reason' | 'refused_by'> {
  return { reason: code, ...(refusedBy ? { refused_by: refusedBy } : {}) }
}
