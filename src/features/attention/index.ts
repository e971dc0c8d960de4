/** Items that need attention, from the database. They are not signed. */
import { and, asc, eq, gt, isNull, sql } from 'drizzle-orm'
import { agents, derivedStates, secrets, tokens } from '../../database/schema/index.ts'
import { type Route, route } from '../../http/route.ts'
import { listExpiringTokens, listLostCredentials } from './contract.ts'

const MAX_ENTRIES = 100

export function attentionRoutes(): Route[] {
  return [
    route(listExpiringTokens, async ({ tx, grant, query: { days } }) => {
      const rows = await tx
        .select({
          id: tokens.id,
          label: tokens.label,
          agent_id: tokens.agentId,
          agent_name: agents.name,
          project_id: sql<string | null>`coalesce(${tokens.projectId}, ${agents.projectId})`,
          environment: tokens.environment,
          created_at: tokens.createdAt,
          expires_at: tokens.expiresAt,
        })
        .from(tokens)
        .leftJoin(agents, eq(agents.id, tokens.agentId))
        .where(
          and(
            eq(tokens.workspaceId, grant.workspaceId),
            isNull(tokens.revokedAt),
            gt(tokens.expiresAt, sql`now()`),
            sql`${tokens.expiresAt} <= now() + ${days} * interval '24 hours'`,
          ),
        )
        .orderBy(asc(tokens.expiresAt), asc(tokens.id))
        .limit(MAX_ENTRIES)
      return rows.flatMap(({ expires_at, ...row }) => (expires_at ? [{ ...row, expires_at }] : []))
    }),
    route(listLostCredentials, ({ tx, grant }) =>
      tx
        .select({
          project_id: derivedStates.projectId,
          environment: derivedStates.environment,
          key: derivedStates.key,
          failed_at: derivedStates.failedAt,
          failed_code: derivedStates.failedCode,
        })
        .from(derivedStates)
        // A state outlives a deleted secret that can be restored.
        .innerJoin(
          secrets,
          and(
            eq(secrets.projectId, derivedStates.projectId),
            eq(secrets.environment, derivedStates.environment),
            eq(secrets.key, derivedStates.key),
          ),
        )
        .where(
          and(eq(derivedStates.workspaceId, grant.workspaceId), eq(derivedStates.isFinal, true)),
        )
        .orderBy(asc(derivedStates.failedAt), asc(derivedStates.key))
        .limit(MAX_ENTRIES),
    ),
  ]
}
