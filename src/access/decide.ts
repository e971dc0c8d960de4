/**
 * Decides and records in one step. The record is stored only if the token is live and the decision was made under the
 * workspace's current policy; otherwise both are read again and the decision is repeated.
 */
import type { Entry } from '../audit/entry.ts'
import { UnreadBefore } from '../core/async/unread.ts'
import { Fault } from '../core/fault.ts'
import { type Attributes, getCurrentSpan, traceWork } from '../core/trace/span.ts'
import type { Access } from './index.ts'
import type { Decide, Decided } from './locked_decision.ts'
import type { SentRead } from './reader.ts'
import { StaleSnapshot } from './snapshots/snapshots.ts'
import type { LiveToken } from './tokens.ts'

/**
 * Milliseconds for which a decision is repeated while the policy keeps changing: every write of a secret counts as a
 * change, and an import must not stop the workspace's agents.
 */
const TIMEOUT_MS = 5_000
/** After this many attempts, the workspace's writers have to wait for one decision. */
const FREE_ATTEMPTS = 2
/** Maximum waits of one decision outside of its attempts, such as renewals of its credentials. */
const MAX_WAITS = 20

/** Returns a refusal as a result: it is recorded like an allowed call. */
export async function orRefusal<T>(task: () => Promise<T>): Promise<T | Fault> {
  try {
    return await task()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

type Deciding = Pick<Access, 'tokens' | 'snapshots' | 'trail' | 'decideLocked'>

/**
 * Returns the decision, once its record is durable. @throws Fault of the decision, `invalid_token`,
 * `audit_unavailable`, `unavailable`
 */
export function decideDurably<T>(
  access: Deciding,
  token: LiveToken,
  decide: Decide<T>,
): Promise<T> {
  return traceWork('decide', {}, () => decideAndRecord(access, token, decide))
}

async function decideAndRecord<T>(
  access: Deciding,
  token: LiveToken,
  decide: Decide<T>,
): Promise<T> {
  let started = performance.now()
  let waits = 0
  const asked: SentRead[] = []
  const canRetry = () => performance.now() - started < TIMEOUT_MS && waits < MAX_WAITS
  for (let attempt = 1; canRetry(); attempt += 1) {
    const isLocked = attempt > FREE_ATTEMPTS
    const decided = await attemptOnce(access, token, decide, isLocked ? asked : null)
    if (decided && 'entry' in decided) return resultOf(decided)
    if (decided) {
      await decided.read()
      waits += 1
      started = performance.now()
      attempt = 0
      if (decided.keepsSnapshot) continue
    }
    access.snapshots.forget(token.workspaceId)
    await access.tokens.confirm(token)
  }
  throw new Fault('unavailable')
}

/** @throws Fault of the decision */
function resultOf<T>({ entry, result }: Decided<T>): T {
  getCurrentSpan()?.set(toTraceAttributes(entry))
  if (result instanceof Fault) throw result
  return result
}

/**
 * Decides under a lock if `asked` is given. The lock ends before a wait for data that has to be read first. Returns
 * `null` if the decision is no longer current: then nothing was stored.
 */
async function attemptOnce<T>(
  { snapshots, trail, decideLocked }: Deciding,
  token: LiveToken,
  decide: Decide<T>,
  asked: SentRead[] | null,
): Promise<Decided<T> | UnreadBefore | null> {
  try {
    if (asked) return await decideLocked(token, decide, asked)
    const { workspaceId } = token
    const snapshot = snapshots.getKnown(workspaceId) ?? (await snapshots.of(workspaceId))
    const decision = decide(snapshot, snapshots)
    const decided = decision instanceof Promise ? await decision : decision
    return (await trail.record(decided.entry)) === 'recorded' ? decided : null
  } catch (error) {
    if (error instanceof StaleSnapshot) return null
    if (error instanceof UnreadBefore) return error
    throw error
  }
}

/** Returns a decision's trace attributes: no more than the audit shows. */
function toTraceAttributes({
  decision,
  reason,
  method,
  target_domain,
  ...entry
}: Entry): Attributes {
  return {
    'cloakroom.workspace_id': entry.workspace_id,
    'cloakroom.decision': decision,
    'cloakroom.reason': reason,
    'http.request.method': method,
    'server.address': target_domain,
  }
}
