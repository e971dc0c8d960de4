/** What somebody signed of tokens ends with their rights or their keys: rows that none would believe are dropped. */
import { and, eq, sql } from 'drizzle-orm'
import type { Transaction } from '../../platform/db/open.ts'
import { tokenEnvelopes, tokenGrants } from '../../platform/db/schema/index.ts'

/** Grants, and envelopes by their statements. */
export async function dropSignedBy(
  tx: Transaction,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<void> {
  for (const table of [tokenGrants, tokenEnvelopes]) {
    const signer = sql`(${table.statement}::jsonb)->>'signer'`
    await tx.delete(table).where(and(eq(table.workspaceId, workspaceId), eq(signer, userId)))
  }
}
