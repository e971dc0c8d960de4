/** Who makes the calls of the resolver: a token, as outbound/execute.ts needs it. */
import { decideDurably } from '../access/decide.ts'
import { entryOf } from '../access/entry.ts'
import type { Decided } from '../access/locked_decision.ts'
import type { Snapshot, SnapshotCache } from '../access/snapshots/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import type { BodyAccount } from '../core/body_memory.ts'
import { Fault } from '../core/fault.ts'
import { currentSpan, type Span } from '../core/trace/span.ts'
import { toFault } from '../http/unexpected_error.ts'
import type { Owner } from '../outbound/connection/session_pool.ts'
import type { CallDeadline } from '../outbound/deadline.ts'
import type { Attempt, CallerConnection, Principal } from '../outbound/execute.ts'
import { basisOf } from '../outbound/policy/judge_again.ts'
import type { CallRecord, Conclusion } from '../outbound/record.ts'
import { type NamedScope, TokenPermission } from './permission.ts'
import type { ResolverServices } from './services.ts'

export type TokenCaller = {
  token: LiveToken
  record: CallRecord
  scope: NamedScope
  deadline: CallDeadline
  /** Whether its answer may take its time. */
  isLong: boolean
  connection: CallerConnection
  /** Headers of an answer that is wrapped in JSON. */
  headers: Record<string, string>
  bodies: BodyAccount
}

export class TokenPrincipal implements Principal {
  readonly owner: Owner
  readonly connection: CallerConnection
  readonly headers: Record<string, string>
  readonly bodies: BodyAccount
  readonly #services: ResolverServices
  readonly #caller: TokenCaller
  /** From what is sent to the end of its answer. */
  readonly #call: Span | undefined

  constructor(services: ResolverServices, caller: TokenCaller) {
    this.#services = services
    this.#caller = caller
    this.owner = { workspaceId: caller.token.workspaceId, tokenId: caller.token.id }
    this.connection = caller.connection
    this.headers = caller.headers
    this.bodies = caller.bodies
    this.#call = currentSpan()?.child('call', {}, 'client')
  }

  /** Of the call that is sent, where that is traced. */
  get traceparent(): string | null {
    return this.#call?.traceparent ?? null
  }

  withRecord(record: CallRecord): TokenPrincipal {
    return new TokenPrincipal(this.#services, { ...this.#caller, record })
  }

  async decide<T extends object>(attempt: Attempt<T>): Promise<T> {
    const { token, record, deadline, isLong } = this.#caller
    const request = await decideDurably(this.#services, token, (snapshot, snapshots) =>
      this.#decideBy(snapshot, snapshots, attempt),
    )
    // What takes its time ends when it is not permitted any more.
    const basis = isLong ? basisOf(record) : null
    const { liveCalls } = this.#services
    const end = (fault: Fault) => deadline.refuse(fault)
    if (basis) deadline.afterwards(liveCalls.hold({ token, ...basis }, end))
    this.#call?.begin().set(sentTo(record))
    return request
  }

  /** Looks at nothing where it is not traced: to read headers makes them. */
  received(response: Response): void {
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
    this.#services.trail.conclude({ id: this.#caller.record.id, ...conclusion })
  }

  faultOf(error: unknown): Fault {
    return toFault(error, this.#caller.record.id, this.#services.log)
  }

  #decideBy<T extends object>(snapshot: Snapshot, snapshots: SnapshotCache, attempt: Attempt<T>) {
    const { keys, guards } = this.#services
    const { token, scope } = this.#caller
    const parts = { snapshots, keys, guards, snapshot, token }
    const decision = attempt(new TokenPermission(parts, scope))
    return decision instanceof Promise
      ? decision.then((result) => this.#decided(result, snapshot))
      : this.#decided(decision, snapshot)
  }

  #decided<T extends object>(result: T | Fault, { policyVersion }: Snapshot): Decided<T> {
    const { token, record, deadline } = this.#caller
    const refusal = result instanceof Fault ? record.refusal(result, deadline.isUnwanted) : null
    return { result, entry: entryOf(token, policyVersion, record, refusal) }
  }
}

/** As the audit has it, without the path. */
function sentTo({ method, target }: CallRecord) {
  return {
    'http.request.method': method,
    'server.address': target?.host,
    'server.port': target?.port,
  }
}
