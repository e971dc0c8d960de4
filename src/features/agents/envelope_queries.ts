/** The rows of the envelopes that tokens hold. */
import { and, asc, eq, sql } from 'drizzle-orm'
import type { Grant } from '../../core/grant.ts'
import type { Transaction } from '../../database/open.ts'
import { tokenEnvelopes } from '../../database/schema/index.ts'
import type { StoredStatement } from '../statements/index.ts'
import type { Provision } from './shapes.ts'

type Manage = Grant<'agent.manage'>

export type NewEnvelope = Omit<Provision, keyof StoredStatement> &
  StoredStatement & { sealed: Uint8Array }

/** Adds envelopes or replaces those of the same project and environment. */
export async function mergeEnvelopes(
  tx: Transaction,
  grant: Manage,
  tokenId: string,
  envelopes: readonly NewEnvelope[],
): Promise<void> {
  await tx
    .insert(tokenEnvelopes)
    .values(
      envelopes.map(({ project_id, environment, epoch, sealed, statement, signature }) => ({
        tokenId,
        workspaceId: grant.workspaceId,
        projectId: project_id,
        environment,
        epoch,
        envelope: sealed,
        statement,
        signature,
      })),
    )
    .onConflictDoUpdate({
      target: [tokenEnvelopes.tokenId, tokenEnvelopes.projectId, tokenEnvelopes.environment],
      set: {
        epoch: sql`excluded.epoch`,
        envelope: sql`excluded.envelope`,
        statement: sql`excluded.statement`,
        signature: sql`excluded.signature`,
        createdAt: sql`now()`,
      },
    })
}

export function selectProvisions(
  tx: Transaction,
  grant: Manage,
  tokenId: string,
): Promise<Provision[]> {
  return tx
    .select({
      project_id: tokenEnvelopes.projectId,
      environment: tokenEnvelopes.environment,
      epoch: tokenEnvelopes.epoch,
    })
    .from(tokenEnvelopes)
    .where(
      and(eq(tokenEnvelopes.workspaceId, grant.workspaceId), eq(tokenEnvelopes.tokenId, tokenId)),
    )
    .orderBy(asc(tokenEnvelopes.projectId), asc(tokenEnvelopes.environment))
}

/** Tells whether the token had it. */
export async function deleteEnvelope(
  tx: Transaction,
  grant: Manage,
  tokenId: string,
  { project_id, environment }: { project_id: string; environment: string },
): Promise<boolean> {
  const deleted = await tx
    .delete(tokenEnvelopes)
    .where(
      and(
        eq(tokenEnvelopes.workspaceId, grant.workspaceId),
        eq(tokenEnvelopes.tokenId, tokenId),
        eq(tokenEnvelopes.projectId, project_id),
        eq(tokenEnvelopes.environment, environment),
      ),
    )
    .returning({ tokenId: tokenEnvelopes.tokenId })
  return deleted.length > 0
}
