/** Records by their ids, for those who look at them as they are written. */
import { and, asc, eq, gt, inArray, isNotNull, sql } from 'drizzle-orm'
import type { Grant } from '../../core/grant.ts'
import type { Database } from '../../database/open.ts'
import { auditLogs } from '../../database/schema/index.ts'
import { shown } from './matching.ts'

type Read = Grant<'audit.read'>

const { id, workspaceId, source, statusCode } = auditLogs

/** In their order; whether an outcome is still to come. */
export function selectIdsAfter(db: Database, grant: Read, after: string, limit: number) {
  return db
    .select({ id, isOpen: sql<boolean>`${source} = 'resolver' and ${statusCode} is null` })
    .from(auditLogs)
    .where(and(eq(workspaceId, grant.workspaceId), gt(id, after)))
    .orderBy(asc(id))
    .limit(limit)
}

/** The ones that now have their outcome. */
export async function selectClosed(db: Database, grant: Read, ids: readonly string[]) {
  if (ids.length === 0) return []
  const rows = await db
    .select({ id })
    .from(auditLogs)
    .where(and(eq(workspaceId, grant.workspaceId), inArray(id, [...ids]), isNotNull(statusCode)))
  return rows.map((row) => row.id)
}

export function selectByIds(db: Database, grant: Read, ids: readonly string[]) {
  return db
    .select(shown)
    .from(auditLogs)
    .where(and(eq(workspaceId, grant.workspaceId), inArray(id, [...ids])))
    .orderBy(asc(id))
}

export type ShownRecord = Awaited<ReturnType<typeof selectByIds>>[number]
