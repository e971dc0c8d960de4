/** The audit records of one workspace, read with a grant. */
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Grant } from '../../core/grant.ts'
import type { Database, Reading } from '../../database/open.ts'
import { auditLogs } from '../../database/schema/index.ts'
import type { RecordFilters } from './contract.ts'
import { type AuditPage, matches, type Position, shown, sortByPosition } from './matching.ts'
import { isSearched, selectInBuckets, termsOf } from './search.ts'

type Read = Grant<'audit.read' | 'audit.export'>

/** One record more than the page holds. */
export async function selectLogs(
  tx: Database,
  { workspaceId }: Read,
  filters: RecordFilters,
  page: AuditPage,
) {
  const terms = termsOf(workspaceId, filters)
  if (isSearched(filters, terms)) return selectInBuckets(tx, terms, workspaceId, filters, page)
  return tx
    .select(shown)
    .from(auditLogs)
    .where(and(matches(workspaceId, filters), isAfter(page)))
    .orderBy(...sortByPosition(auditLogs, page))
    .limit(page.limit + 1)
}

function isAfter({ after, order }: AuditPage): SQL | undefined {
  const { timestamp, id } = auditLogs
  if (after === null) return undefined
  const isFurther = order === 'newest' ? sql`<` : sql`>`
  return sql`(${timestamp}, ${id}) ${isFurther} (${after.timestamp}::timestamptz, ${after.id}::uuid)`
}

/** The sort key of a record, where a next page would start. */
export function positionOf({ timestamp, id }: { timestamp: Date; id: string }): Position {
  return { timestamp: timestamp.toISOString(), id }
}

/** A record of the workspace, or `null`. */
export async function selectLog(tx: Reading, { workspaceId }: Read, id: string) {
  const [found] = await tx
    .select(shown)
    .from(auditLogs)
    .where(and(eq(auditLogs.id, id), eq(auditLogs.workspaceId, workspaceId)))
  return found ?? null
}
