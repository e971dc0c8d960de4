/**
 * A verified request as the page shows it: all that will be sent, with names of secrets and never their values. Texts
 * from agents have no control characters, and nothing that changes the reading order.
 */
import { findLongestWindow } from '../../../client/approvals/release.ts'
import type { VerifiedRequest } from '../../../client/approvals/verify.ts'
import { comparePlaces } from '../../../core/crypto/approval/call.ts'
import { policyPathMatches } from '../../../core/policy/path.ts'
import { printable, printableLines } from '../../../core/printable.ts'
import { isReleasePath } from '../../../sigchain/index.ts'

export type ShownRequest = ReturnType<typeof toShownRequest>

/** Host and path are ASCII, as they are sent; queries are decoded. */
/** Names by ID. Agent names come from the agent list, where pinned names are checked, and not from the request. */
export type ShownNames = Record<'projects' | 'agents', ReadonlyMap<string, string>>

export function toShownRequest(request: VerifiedRequest, { projects, agents }: ShownNames) {
  const { approval, call, reason, grant, held } = request
  const { origin, pathname, searchParams } = new URL(call.target_url)
  return {
    id: approval.id,
    digest: approval.digest,
    agent: printable(agentName(grant, agents)),
    token: printable(grant.label),
    reason: reason === null ? null : printable(reason),
    method: call.method,
    origin,
    path: pathname,
    query: [...searchParams].map(printablePair),
    headers: call.headers.map(printablePair),
    body: bodyOf(request),
    secrets: call.secrets.map((used) => ({
      key: used.key,
      project: printable(projects.get(used.project_id) ?? used.project_id),
      environment: used.environment,
      by: held.find((secret) => comparePlaces(secret, used) === 0)?.by ?? null,
    })),
    needsAdmin: held.some(({ by }) => by === 'admin'),
    /** Whether this call can be allowed alone: a stream may send anything, so only a window releases it. */
    isSingle: call.body_sha256 !== null,
    mostSeconds: findLongestWindow(held),
    prefixes: windowPrefixes(pathname),
    requestedAt: approval.requested_at,
    expiresAt: approval.expires_at,
  }
}

/** The agent in the token's grant. A workload has no agent, so its token's label names it. */
function agentName({ agent_id, label }: VerifiedRequest['grant'], agents: ShownNames['agents']) {
  return agent_id === null ? label : (agents.get(agent_id) ?? agent_id)
}

function printablePair([name, value]: readonly [string, string]) {
  return { name: printable(name), value: printable(value) }
}

/** `stream` is not covered by the approval, and `unshown` is not text or too long. */
function bodyOf({ approval, call, body }: VerifiedRequest) {
  const bytes = approval.body_bytes ?? 0
  const type = approval.body_type === null ? null : printable(approval.body_type)
  if (call.body_sha256 === null) return { kind: 'stream', type, bytes, text: '' } as const
  if (bytes === 0) return { kind: 'none', type, bytes, text: '' } as const
  if (body === null) return { kind: 'unshown', type, bytes, text: '' } as const
  return { kind: 'text', type, bytes, text: printableLines(body) } as const
}

/** Beginnings of the path that a window can have, the narrowest first. */
export function windowPrefixes(path: string): string[] {
  const found: string[] = []
  for (let prefix = path; prefix !== ''; prefix = prefix.slice(0, prefix.lastIndexOf('/')))
    if (isReleasePath(prefix) && policyPathMatches(prefix, path)) found.push(prefix)
  return found
}
