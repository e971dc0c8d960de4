/**
 * The audit of a request that changes something or shows values, bound to its transaction. A handler must report its
 * changes and reads, or that there are none. Otherwise it fails, and its transaction is rolled back. So no endpoint can
 * forget its record.
 */

import type { Grant } from '../core/grant.ts'
import type { Database, Reading } from '../database/open.ts'

const DONE = {
  allowlist: ['added', 'removed'],
  workspace: ['created', 'renamed', 'deleted', 'rekeyed', 'ownership_transferred'],
  member: ['invited', 'accepted', 'declined', 'role_changed', 'removed', 'left', 'keys_rotated'],
  project: ['created', 'updated', 'deleted', 'restored'],
  secret: ['created', 'updated', 'deleted', 'restored', 'rolled_back', 'read'],
  environment: ['created', 'deleted'],
  agent: ['created', 'deleted'],
  approval: ['released', 'denied', 'revoked'],
  proposal: ['closed'],
  notice_target: ['created', 'deleted'],
  token: ['issued', 'revoked', 'granted', 'provisioned', 'grant_removed'],
} as const
type Done = typeof DONE

/** The action: the kind of item and a past participle, `token.revoked`. */
export type AuditAction = { [Kind in keyof Done]: `${Kind}.${Done[Kind][number]}` }[keyof Done]

export const actions: readonly string[] = Object.entries(DONE).flatMap(([kind, done]) =>
  done.map((participle) => `${kind}.${participle}`),
)

/** By name and id, never by value. */
export type Change = {
  action: AuditAction
  resource: { type: string; id: string | null; name: string | null }
  /** The ID of the affected agent. */
  registrationId?: string | undefined
  projectId?: string | undefined
  environment?: string | undefined
}

/** The name of a token in a record. For an agent's token it includes the agent, because most labels are `default`. */
export function toTokenResource(
  { id, label }: { id: string; label: string },
  agent: { id: string; name: string } | null,
): Pick<Change, 'resource' | 'registrationId'> {
  const name = agent ? `${agent.name}/${label}` : label
  return { resource: { type: 'token', id, name }, registrationId: agent?.id }
}

/** The actor of the record: a grant, or a person without one (accepting an invitation). */
export type Actor = Pick<Grant, 'workspaceId' | 'userId' | 'email'>

/** Implemented by the audit: stores changes in their transaction, and reads without one. */
export type StoreChanges = (tx: Reading, actor: Actor, changes: readonly Change[]) => Promise<void>

/** Stores a refusal by role in a separate transaction. `action` is the endpoint's name. */
export type StoreDenial = (
  db: Database,
  actor: Actor & { projectId?: string | undefined },
  action: string,
) => Promise<void>

export type StoreNow = (actor: Actor, changes: readonly Change[]) => Promise<void>

/** The recorder as handlers see it. */
export type BoundAudit = Pick<Recorder, 'record' | 'unchanged'>

/** For handlers that find their workspace themselves: they set the actor first. */
export type UnboundAudit = Pick<Recorder, 'by' | 'unchanged'>

/** A defect of the server: an endpoint that may have changed something without a record. */
export class UnrecordedChange extends Error {
  /** The endpoint's name: the log shows a code, and no messages. */
  readonly code: string

  constructor(endpoint: string) {
    super(`${endpoint} records neither a change nor that nothing changed`)
    this.name = 'UnrecordedChange'
    this.code = endpoint
  }
}

export class Recorder {
  #unsent: { actor: Actor | undefined; change: Change }[] = []
  readonly #storing: Promise<void>[] = []
  readonly #endpoint: string
  readonly #storeNow: StoreNow
  readonly #isEager: boolean
  #actor: Actor | undefined
  #hasChanges = false
  #isUnchanged = false

  /** `isEager`: records are sent with the handler's statements, not after it returns. */
  constructor(
    endpoint: string,
    store: StoreNow,
    { actor, isEager = false }: { actor?: Actor | undefined; isEager?: boolean } = {},
  ) {
    this.#endpoint = endpoint
    this.#storeNow = store
    this.#isEager = isEager
    this.#actor = actor
  }

  /** From now on: a person may change several workspaces at once. */
  by(actor: Actor): BoundAudit {
    this.#actor = actor
    return this
  }

  /** Stored in the transaction of the handler. */
  record(...changes: readonly Change[]): void {
    if (changes.length === 0) return
    this.#hasChanges = true
    const { length } = this.#unsent
    for (const change of changes) this.#unsent.push({ actor: this.#actor, change })
    if (length === 0 && this.#isEager) queueMicrotask(() => this.#send())
  }

  /** Reports that nothing was changed or returned, for example because the requested state already exists. */
  unchanged(): void {
    this.#isUnchanged = true
  }

  /** Whether the handler said that nothing was changed or shown. */
  get isUnchanged(): boolean {
    return this.#isUnchanged
  }

  /** The remaining records. @throws UnrecordedChange unless the handler reported exactly one of the two */
  async store(): Promise<void> {
    if (this.#hasChanges === this.#isUnchanged) throw new UnrecordedChange(this.#endpoint)
    this.#send()
    await Promise.all(this.#storing)
  }

  #send(): void {
    for (const [actor, recorded] of Map.groupBy(this.#unsent.splice(0), ({ actor }) => actor)) {
      const storing = actor
        ? this.#storeNow(
            actor,
            recorded.map(({ change }) => change),
          )
        : Promise.reject(new UnrecordedChange(this.#endpoint))
      storing.catch(() => {})
      this.#storing.push(storing)
    }
  }
}
