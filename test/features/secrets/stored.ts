/** Contents of the tables, for tests that check what must not have been written. */
import { asc, eq } from 'drizzle-orm'
import { secrets, secretVersions } from '../../../src/database/schema/index.ts'
import type { TestApp } from '../../support/app.ts'

/** All secrets and versions of a workspace, blobs included. */
export async function storedSecrets({ connection: { db } }: TestApp, workspaceId: string) {
  const rows = await db
    .select()
    .from(secrets)
    .where(eq(secrets.workspaceId, workspaceId))
    .orderBy(asc(secrets.id))
  const versions = await db
    .select({ secretId: secretVersions.secretId, version: secretVersions.version })
    .from(secretVersions)
    .innerJoin(secrets, eq(secrets.id, secretVersions.secretId))
    .where(eq(secrets.workspaceId, workspaceId))
    .orderBy(asc(secretVersions.secretId), asc(secretVersions.version))
  return { rows, versions }
}
