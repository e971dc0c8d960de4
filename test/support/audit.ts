/** The control plane's audit rows of a workspace, in the order of writing. */
import { and, asc, eq, notInArray } from 'drizzle-orm'
import { auditLogs } from '../../src/database/schema/index.ts'
import type { TestApp } from './app.ts'

/** `action name`, such as `project.created api`; reads and rejections are not changes. */
export async function recordedChanges(
  { connection: { db }, flushAudit }: TestApp,
  workspaceId: string,
): Promise<string[]> {
  await flushAudit()
  const rows = await db
    .select({ action: auditLogs.action, resource: auditLogs.resource })
    .from(auditLogs)
    .where(
      and(
        eq(auditLogs.workspaceId, workspaceId),
        notInArray(auditLogs.action, ['secret.read', 'access.denied']),
      ),
    )
    .orderBy(asc(auditLogs.recordedAt), asc(auditLogs.id))
  return rows.map(({ action, resource }) => `${action} ${resource?.name}`)
}
