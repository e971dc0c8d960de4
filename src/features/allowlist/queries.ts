/** The allowlist's rows. Writers need a write grant. */
import { and, asc, desc, eq, gt, lt } from 'drizzle-orm'
import type { Grant } from '../../core/grant.ts'
import type { Reading, Transaction } from '../../database/open.ts'
import { allowlistEntries, allowlistLog, users } from '../../database/schema/index.ts'
import type { Page } from '../../http/page.ts'

type Read = Grant<'allowlist.read' | 'allowlist.write'>
type Write = Grant<'allowlist.write'>

const shownEntry = {
  id: allowlistEntries.id,
  domain: allowlistEntries.domain,
  added_by_email: users.email,
  added_at: allowlistEntries.addedAt,
}

/** One row more than the page holds, by domain. */
export function selectEntries(tx: Reading, grant: Read, { after: [after], limit }: Page) {
  return tx
    .select(shownEntry)
    .from(allowlistEntries)
    .leftJoin(users, eq(users.id, allowlistEntries.addedBy))
    .where(
      and(
        eq(allowlistEntries.workspaceId, grant.workspaceId),
        after === undefined ? undefined : gt(allowlistEntries.domain, after),
      ),
    )
    .orderBy(asc(allowlistEntries.domain))
    .limit(limit + 1)
}

/** Adds what is missing and returns those rows, by domain. */
export async function insertEntries(tx: Transaction, grant: Write, domains: readonly string[]) {
  const added = await tx
    .insert(allowlistEntries)
    .values(
      [...new Set(domains)].sort().map((domain) => ({
        workspaceId: grant.workspaceId,
        domain,
        addedBy: grant.userId,
      })),
    )
    .onConflictDoNothing()
    .returning({
      id: allowlistEntries.id,
      domain: allowlistEntries.domain,
      added_at: allowlistEntries.addedAt,
    })
  return added.map((row) => ({ ...row, added_by_email: grant.email }))
}

/** Tells whether the domain was there. */
export async function deleteEntry(tx: Transaction, grant: Write, domain: string): Promise<boolean> {
  const deleted = await tx
    .delete(allowlistEntries)
    .where(
      and(eq(allowlistEntries.workspaceId, grant.workspaceId), eq(allowlistEntries.domain, domain)),
    )
    .returning({ id: allowlistEntries.id })
  return deleted.length > 0
}

export async function insertLog(
  tx: Transaction,
  grant: Write,
  action: 'added' | 'removed',
  domains: readonly string[],
): Promise<void> {
  if (domains.length === 0) return
  await tx.insert(allowlistLog).values(
    domains.map((domain) => ({
      workspaceId: grant.workspaceId,
      domain,
      action,
      performedBy: grant.userId,
    })),
  )
}

/** One row more than the page holds, newest first: ids are UUIDs of version 7. */
export function selectAllowlistLog(tx: Reading, grant: Read, { after: [after], limit }: Page) {
  return tx
    .select({
      id: allowlistLog.id,
      domain: allowlistLog.domain,
      action: allowlistLog.action,
      performed_by_email: users.email,
      performed_at: allowlistLog.performedAt,
    })
    .from(allowlistLog)
    .leftJoin(users, eq(users.id, allowlistLog.performedBy))
    .where(
      and(
        eq(allowlistLog.workspaceId, grant.workspaceId),
        after === undefined ? undefined : lt(allowlistLog.id, after),
      ),
    )
    .orderBy(desc(allowlistLog.id))
    .limit(limit + 1)
}
