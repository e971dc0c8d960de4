/** The agents' rows. Deleted agents stay in the table for the audit; no statement here finds them. */
import { and, asc, count, desc, eq, gt, isNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Grant } from '../../core/grant.ts'
import type { Reading, Transaction } from '../../database/open.ts'
import { agents, tokens, tokenUses } from '../../database/schema/index.ts'
import type { Page } from '../../http/page.ts'

type Manage = Grant<'agent.manage'>

/** The status of a token by the database's clock, never by the process's clock. */
export const isTokenActive = sql`(${tokens.revokedAt} is null
  and (${tokens.expiresAt} is null or ${tokens.expiresAt} > now()))`

/** By this version or one before it; both may run. `tokenUses` must be joined. */
export const lastUsedAt =
  sql<Date | null>`greatest(${tokens.lastUsedAt}, ${tokenUses.lastUsedAt})`.mapWith(
    tokens.lastUsedAt,
  )

/** One row more than the page holds, oldest first: ids are UUIDs of version 7. */
export function selectAgents(
  tx: Reading,
  grant: Manage,
  { projectId, after: [after], limit }: Page & { projectId: string | null },
) {
  return selectCounted(
    tx,
    and(
      isLive(grant),
      projectId === null ? undefined : eq(agents.projectId, projectId),
      after === undefined ? undefined : gt(agents.id, after),
    ),
  )
    .orderBy(asc(agents.id))
    .limit(limit + 1)
}

export async function selectAgent(tx: Reading, grant: Manage, id: string) {
  const [found] = await selectCounted(tx, and(isLive(grant), eq(agents.id, id)))
  return found ?? null
}

/** Revoked and expired tokens pile up without a quota, so only an agent's newest tokens are counted beside the active ones. */
const MAX_COUNTED = 100

/** Agents with the tally of their tokens, in one statement. It reads at most `MAX_COUNTED` tokens an agent, and the active ones. */
function selectCounted(tx: Reading, which: SQL | undefined) {
  const newest = tx
    .select({ used: lastUsedAt.as('used') })
    .from(tokens)
    .leftJoin(tokenUses, eq(tokenUses.tokenId, tokens.id))
    .where(eq(tokens.agentId, agents.id))
    .orderBy(desc(tokens.createdAt), desc(tokens.id))
    .limit(MAX_COUNTED + 1)
    .as('newest')
  const recent = tx
    .select({ count: count().as('recent'), used: lastOf(newest.used).as('recently_used') })
    .from(newest)
    .as('recent_tally')
  const active = tx
    .select({ count: count().as('active'), used: lastOf(lastUsedAt).as('actively_used') })
    .from(tokens)
    .leftJoin(tokenUses, eq(tokenUses.tokenId, tokens.id))
    .where(and(eq(tokens.agentId, agents.id), isNull(tokens.revokedAt), sql`${expiry} > now()`))
    .as('active_tally')
  return tx
    .select({
      id: agents.id,
      name: agents.name,
      project_id: agents.projectId,
      token_count: sql`greatest(least(${recent.count}, ${MAX_COUNTED}), ${active.count})`.mapWith(
        Number,
      ),
      has_more_tokens: sql<boolean>`${recent.count} > ${MAX_COUNTED}`,
      active_token_count: active.count,
      last_used_at: sql<Date | null>`greatest(${recent.used}, ${active.used})`.mapWith(
        tokens.lastUsedAt,
      ),
      created_at: agents.createdAt,
    })
    .from(agents)
    .innerJoinLateral(recent, sql`true`)
    .innerJoinLateral(active, sql`true`)
    .where(which)
    .$dynamic()
}

/** As the index `tokens_active` has it. */
const expiry = sql`coalesce(${tokens.expiresAt}, 'infinity'::timestamptz)`

const lastOf = (times: SQLWrapper) => sql<Date | null>`max(${times})`.mapWith(tokens.lastUsedAt)

/**
 * Names of the workspace's agents, of which there are as many as its quota: `here` are those that work in the same project,
 * and an agent of the whole workspace works in all. The workspace must be locked, so that two registrations do not pass
 * each other.
 */
export async function selectNames(
  tx: Transaction,
  grant: Manage,
  projectId: string | null,
): Promise<{ name: string; here: boolean }[]> {
  const rows = await tx
    .select({ name: agents.name, projectId: agents.projectId })
    .from(agents)
    .where(isLive(grant))
  return rows.map(({ name, projectId: of }) => ({
    name,
    here: projectId === null || of === null || of === projectId,
  }))
}

/** The new row, or `null` when the id is taken, in any workspace; the name must not be. */
export async function insertAgent(
  tx: Transaction,
  grant: Manage,
  agent: { id?: string | undefined; name: string; projectId: string | null },
) {
  const [inserted] = await tx
    .insert(agents)
    .values({ ...agent, workspaceId: grant.workspaceId })
    .onConflictDoNothing()
    .returning()
  return inserted ?? null
}

/** The deleted agent, or `null`. */
export async function markDeleted(tx: Transaction, grant: Manage, id: string) {
  const [deleted] = await tx
    .update(agents)
    .set({ deletedAt: sql`now()` })
    .where(and(isLive(grant), eq(agents.id, id)))
    .returning({ id: agents.id, name: agents.name, projectId: agents.projectId })
  return deleted ?? null
}

function isLive(grant: Manage): SQL | undefined {
  return and(eq(agents.workspaceId, grant.workspaceId), isNull(agents.deletedAt))
}
