/** The audit records of one workspace, read with a grant, in the order of the indexes that serve them. */
import { and, desc, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import { union } from 'drizzle-orm/pg-core'
import type { Reading } from '../../platform/db/open.ts'
import { auditLogs } from '../../platform/db/schema/index.ts'
import type { Grant } from '../../platform/grant.ts'
import { isUuid } from '../../platform/http/validate.ts'
import type { Filters } from './contract.ts'

type Read = Grant<'audit.read' | 'audit.export'>

/** The sort key of the last record that was read. */
export type Position = { timestamp: string; id: string }
type Page = { after: Position | null; limit: number }

const shown = {
  id: auditLogs.id,
  workspace_id: auditLogs.workspaceId,
  timestamp: auditLogs.timestamp,
  recorded_at: auditLogs.recordedAt,
  source: auditLogs.source,
  identity_level: auditLogs.identityLevel,
  agent_id: auditLogs.agentId,
  registration_id: auditLogs.registrationId,
  token_id: auditLogs.tokenId,
  user_id: auditLogs.userId,
  project_id: auditLogs.projectId,
  environment: auditLogs.environment,
  method: auditLogs.method,
  target_url: auditLogs.targetUrl,
  target_path: auditLogs.targetPath,
  target_domain: auditLogs.targetDomain,
  credential_ref: auditLogs.credentialRef,
  injection_style: auditLogs.injectionStyle,
  decision: auditLogs.decision,
  reason: auditLogs.reason,
  status_code: auditLogs.statusCode,
  duration_ms: auditLogs.durationMs,
  redacted: auditLogs.redacted,
  action: auditLogs.action,
  resource: auditLogs.resource,
  client_id: auditLogs.clientId,
}

const newestFirst = [desc(auditLogs.timestamp), desc(auditLogs.id)]

/** One record more than the page holds, newest first. */
export function selectLogs(tx: Reading, grant: Read, filters: Filters, page: Page) {
  const newest = newestKeys(tx, grant, filters, page)
  if (newest === null) {
    return tx
      .select(shown)
      .from(auditLogs)
      .where(matches(grant, filters, page))
      .orderBy(...newestFirst)
      .limit(page.limit + 1)
  }
  // In the order of the keys: asked for the order of the records, the planner may walk all of them.
  const keys = newest.as('keys')
  return tx
    .select(shown)
    .from(keys)
    .innerJoin(auditLogs, eq(auditLogs.id, keys.id))
    .orderBy(desc(keys.timestamp), desc(keys.id))
    .limit(page.limit + 1)
}

/** The page's sort keys, where no single index of `audit_logs` has them in order; else `null`. */
function newestKeys(tx: Reading, grant: Read, filters: Filters, page: Page) {
  const { agent_id: agent, credential } = filters
  if (agent !== undefined && isUuid(agent)) return byAnyId(tx, grant, filters, agent, page)
  if (credential !== undefined) return byCredential(tx, grant, filters, credential, page)
  return null
}

/** The sort key of a record, where a next page would start. */
export function positionOf({ timestamp, id }: { timestamp: Date; id: string }): Position {
  return { timestamp: timestamp.toISOString(), id }
}

/** Of the workspace, or `null`. */
export async function selectLog(tx: Reading, { workspaceId }: Read, id: string) {
  const [found] = await tx
    .select(shown)
    .from(auditLogs)
    .where(and(eq(auditLogs.id, id), eq(auditLogs.workspaceId, workspaceId)))
  return found ?? null
}

/**
 * A UUID may be an agent's id, a token's, or a name that looks like one. Each has an index that is in
 * the order of the list; an OR over them would have to read and sort all that any of them matches.
 */
function byAnyId(tx: Reading, grant: Read, filters: Filters, id: string, page: Page) {
  const { agent_id: _, ...others } = filters
  const newest = (which: SQL) => newestOf(tx, and(matches(grant, others, page), which), page)
  return union(
    newest(eq(auditLogs.agentId, id)),
    newest(eq(auditLogs.registrationId, id)),
    newest(eq(auditLogs.tokenId, id)),
  )
}

/** Alone, or among others: each has its index. */
function byCredential(tx: Reading, grant: Read, filters: Filters, name: string, page: Page) {
  const { credential: _, ...others } = filters
  const { credentialRef } = auditLogs
  const newest = (which: SQL) => newestOf(tx, and(matches(grant, others, page), which), page)
  return union(
    newest(sql`${credentialRef} = ${name} and ${credentialRef} not like '%,%'`),
    newest(sql`${credentialRef} like '%,%' and ${holdsCredential(name)}`),
  )
}

function newestOf(tx: Reading, which: SQL | undefined, { limit }: Page) {
  return tx
    .select({ id: auditLogs.id, timestamp: auditLogs.timestamp })
    .from(auditLogs)
    .where(which)
    .orderBy(...newestFirst)
    .limit(limit + 1)
}

function holdsCredential(name: string): SQL {
  return sql`${name} = any(string_to_array(${auditLogs.credentialRef}, ','))`
}

function matches({ workspaceId }: Read, filters: Filters, { after }: Page): SQL | undefined {
  const { agent_id: agent } = filters
  return and(
    eq(auditLogs.workspaceId, workspaceId),
    within(filters, after),
    equals(filters),
    agent === undefined ? undefined : eq(auditLogs.agentId, agent),
  )
}

function equals({
  project_id,
  environment,
  domain,
  method,
  status_code,
  action,
  credential,
}: Filters): SQL | undefined {
  return and(
    project_id === undefined ? undefined : eq(auditLogs.projectId, project_id),
    environment === undefined ? undefined : eq(auditLogs.environment, environment),
    domain === undefined ? undefined : eq(auditLogs.targetDomain, domain),
    method === undefined ? undefined : eq(auditLogs.method, method),
    status_code === undefined ? undefined : eq(auditLogs.statusCode, status_code),
    action === undefined ? undefined : eq(auditLogs.action, action),
    credential === undefined ? undefined : holdsCredential(credential),
  )
}

function within(
  { since, until }: Pick<Filters, 'since' | 'until'>,
  after: Position | null,
): SQL | undefined {
  const { timestamp, id } = auditLogs
  return and(
    since === undefined ? undefined : gte(timestamp, since),
    until === undefined ? undefined : lt(timestamp, until),
    after === null
      ? undefined
      : sql`(${timestamp}, ${id}) < (${after.timestamp}::timestamptz, ${after.id}::uuid)`,
  )
}
