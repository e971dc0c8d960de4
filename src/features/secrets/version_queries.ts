/** The versions that are kept of a secret. */
import { and, desc, eq, lt, sql } from 'drizzle-orm'
import type { Reading } from '../../database/open.ts'
import { secrets, secretVersions, users } from '../../database/schema/index.ts'
import { isSignedId } from '../../sigchain/index.ts'
import type { Read, SecretPage } from './queries.ts'
import { selectHash } from './shown.ts'

const nothing = sql<null>`null`

/** One row more than the page holds, newest first. */
export function selectVersions(
  tx: Reading,
  grant: Read,
  secretId: string,
  { after: [after], limit, withCiphertext }: SecretPage,
) {
  return tx
    .select({
      version: secretVersions.version,
      sealed: withCiphertext ? secretVersions.sealed : nothing,
      ...(isSignedId(grant.workspaceId) && selectHash(secretVersions)),
      policy: secretVersions.policy,
      created_by_email: users.email,
      created_at: secretVersions.createdAt,
    })
    .from(secretVersions)
    .leftJoin(users, eq(users.id, secretVersions.createdBy))
    .where(
      and(
        eq(secretVersions.secretId, secretId),
        after === undefined ? undefined : lt(secretVersions.version, Number(after)),
      ),
    )
    .orderBy(desc(secretVersions.version))
    .limit(limit + 1)
}

export async function selectVersion(
  tx: Reading,
  { workspaceId, projectId }: Read,
  { environment, key, version }: { environment: string; key: string; version: number },
) {
  const [found] = await tx
    .select({
      version: secretVersions.version,
      sealed: secretVersions.sealed,
      policy: secretVersions.policy,
    })
    .from(secretVersions)
    .innerJoin(secrets, eq(secrets.id, secretVersions.secretId))
    .where(
      and(
        eq(secrets.workspaceId, workspaceId),
        eq(secrets.projectId, projectId),
        eq(secrets.environment, environment),
        eq(secrets.key, key),
        eq(secretVersions.version, version),
      ),
    )
  return found ?? null
}
