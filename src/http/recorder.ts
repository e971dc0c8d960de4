/**
 * The audit of a request that changes something or shows values, bound to its transaction. A handler says
 * what it changed or showed, or that it did not; one that says neither fails, and its transaction is rolled
 * back. So no endpoint can forget its record.
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
  token: ['issued', 'revoked', 'granted', 'provisioned', 'grant_removed'],
} as const
type Done = typeof DONE

/** What was done: a past participle after the kind of thing, `token.revoked`. */
export type AuditAction = { [Kind in keyof Done]: `${Kind}.${Done[Kind][number]}` }[keyof Done]

export const actions: readonly string[] = Object.entries(DONE).flatMap(([kind, done]) =>
  done.map((participle) => `${kind}.${participle}`),
)

/** By name and id, never by value. */
export type Change = {
  action: AuditAction
  resource: { type: string; id: string | null; name: string | null }
  /** Of the agent that it is about. */
  registrationId?: string | undefined
  projectId?: string | undefined
  environment?: string | undefined
}

/** What names a token in a record: an agent's by the agent too, since most labels are `default`. */
export function aboutToken(
  { id, label }: { id: string; label: string },
  agent: { id: string; name: string } | null,
): Pick<Change, 'resource' | 'registrationId'> {
  const name = agent ? `${agent.name}/${label}` : label
  return { resource: { type: 'token', id, name }, registrationId: agent?.id }
}

/** Who is written into the record: a grant, or a person who has none yet (accepting an invitation). */
export type Actor = Pick<Grant, 'workspaceId' | 'userId' | 'email'>

/** Implemented by the audit: stores the changes in the transaction that made them, or what was shown without one. */
export type StoreChanges = (tx: Reading, actor: Actor, changes: readonly Change[]) => Promise<void>

/** Stores a refusal by role, in a transaction of its own; `action` is the endpoint's name. */
export type StoreDenial = (
  db: Database,
  actor: Actor & { projectId?: string | undefined },
  action: string,
) => Promise<void>

/** What a handler sees of its recorder. */
export type BoundAudit = Pick<Recorder, 'record' | 'unchanged'>

/** Where the handler itself learns which workspace it changes: it names the actor first. */
export type UnboundAudit = Pick<Recorder, 'by' | 'unchanged'>

/** A defect of ours: an endpoint that changed something, or may have, and left no record. */
export class UnrecordedChange extends Error {
  /** The endpoint's name: the log shows a code, and no messages. */
  readonly code: string

  constructor(endpoint: string) {
    super(`${endpoint} says neither what it changed nor that it changed nothing`)
    this.name = 'UnrecordedChange'
    this.code = endpoint
  }
}

export class Recorder {
  readonly #changes: { actor: Actor | undefined; change: Change }[] = []
  #actor: Actor | undefined
  #isUnchanged = false

  constructor(actor?: Actor) {
    this.#actor = actor
  }

  /** From now on: a person may change several workspaces at once. */
  by(actor: Actor): BoundAudit {
    this.#actor = actor
    return this
  }

  /** Stored when the handler returns, in the same transaction. */
  record(...changes: readonly Change[]): void {
    for (const change of changes) this.#changes.push({ actor: this.#actor, change })
  }

  /** Says that nothing was changed or shown, such as when what was asked for is there already. */
  unchanged(): void {
    this.#isUnchanged = true
  }

  /** Whether the handler said that nothing was changed or shown. */
  get isUnchanged(): boolean {
    return this.#isUnchanged
  }

  /** @throws UnrecordedChange unless the handler said exactly one of the two */
  async store(tx: Reading, endpoint: string, storeChanges: StoreChanges): Promise<void> {
    const hasChanges = this.#changes.length > 0
    if (hasChanges === this.#isUnchanged) throw new UnrecordedChange(endpoint)
    for (const [actor, changes] of Map.groupBy(this.#changes, (recorded) => recorded.actor)) {
      if (!actor) throw new UnrecordedChange(endpoint)
      await storeChanges(
        tx,
        actor,
        changes.map(({ change }) => change),
      )
    }
  }
}
