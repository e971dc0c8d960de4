/** The control plane's audit rows of a workspace, in the order in which they were written. */
import { asc, eq } from 'drizzle-orm'
import { auditLogs } from '../../src/platform/db/schema/index.ts'
import type { TestApp } from './app.ts'

/** `action name`, such as `project.created api`. */
export async function recordedChanges(
  { connection: { db } }: TestApp,
  workspaceId: string,
): Promise<string[]> {
  const rows = await db
    .select({ action: auditLogs.action, resource: auditLogs.resource })
    .from(auditLogs)
    .where(eq(auditLogs.workspaceId, workspaceId))
    .orderBy(asc(auditLogs.recordedAt), asc(auditLogs.id))
  return rows.map(({ action, resource }) => `${action} ${resource?.name}`)
}
