/**
 * Secrets that were deleted, with their versions, in separate tables. Their blobs stay bound to project, environment
 * and name, so that they can be decrypted after a restore.
 */
import { and, asc, desc, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import type { ProjectGrant } from '../../core/grant.ts'
import type { Reading, Transaction } from '../../database/open.ts'
import { isRestorable } from '../../database/restorable.ts'
import {
  deletedSecrets,
  deletedSecretVersions,
  projects,
  secrets,
  secretVersions,
} from '../../database/schema/index.ts'
import { isSignedId } from '../../sigchain/index.ts'
import { deleteRows, type SecretPage } from './queries.ts'
import { selectHash } from './shown.ts'

type Read = ProjectGrant<'secret.read'>
type Write = ProjectGrant<'secret.write' | 'project.delete'>

const SECRET = sql.raw(
  'id, workspace_id, project_id, environment, key, value, value_hash, policy, version, created_at, updated_at',
)
const VERSION = sql.raw('secret_id, version, value, value_hash, policy, created_by, created_at')

/** The secrets of the grant's project: all, those of an environment, or one. */
export type Which = { environment?: string; key?: string }

/** Copies secrets to the tables for restores. The rows are deleted next. */
export async function keepDeletedSecrets(
  tx: Transaction,
  grant: Write,
  which: Which & { deletedWith: string | null },
): Promise<void> {
  const chosen = sql`project_id = ${grant.projectId} and workspace_id = ${grant.workspaceId}
    and environment = coalesce(${which.environment ?? null}, environment)
    and key = coalesce(${which.key ?? null}, key)`
  await Promise.all([
    tx.execute(sql`insert into ${deletedSecrets} (${SECRET}, deleted_with)
      select ${SECRET}, ${which.deletedWith}::uuid from ${secrets} where ${chosen}`),
    tx.execute(sql`insert into ${deletedSecretVersions} (${VERSION})
      select ${VERSION} from ${secretVersions}
      where secret_id in (select id from ${secrets} where ${chosen})`),
  ])
}

/** Deletes the secrets of an environment, which can be restored; returns how many there were. */
export async function deleteEnvironmentSecrets(
  tx: Transaction,
  grant: ProjectGrant<'project.delete'>,
  environment: string,
): Promise<number> {
  const [, deleted] = await Promise.all([
    keepDeletedSecrets(tx, grant, { environment, deletedWith: null }),
    deleteRows(tx, grant, { environment }),
  ])
  return deleted.length
}

/** Restores the secrets deleted with a project, after the project was restored. */
export async function restoreDeletedWith(tx: Transaction, grant: Write): Promise<void> {
  const { projectId, workspaceId } = grant
  await putBack(
    tx,
    sql`deleted_with = ${projectId} and workspace_id = ${workspaceId}
      and exists (select from ${projects} p where p.id = ${projectId})`,
  )
}

/** Secrets of these names that were deleted by themselves, of each name what was deleted last. */
export function selectRestorable(
  tx: Transaction,
  grant: ProjectGrant<'secret.write'>,
  { environment, keys }: { environment: string; keys: readonly string[] },
) {
  const which = and(restorable(grant, environment), inArray(deletedSecrets.key, [...keys]))
  return selectNewestOfEach(tx, grant, which)
}

/** Puts back what `selectRestorable` found. Returns the names that are free; what has another name is lost, unless all is rolled back. */
export async function restoreSecrets(
  tx: Transaction,
  found: readonly { id: string }[],
): Promise<Set<string>> {
  const which = inArray(
    deletedSecrets.id,
    found.map(({ id }) => id),
  )
  const [returned] = await Promise.all([putBack(tx, which), dropRestored(tx, which)])
  return returned
}

async function dropRestored(tx: Transaction, which: SQL): Promise<void> {
  await tx.delete(deletedSecrets).where(which)
}

/** One row more than the page holds, by name. */
export function selectDeleted(
  tx: Reading,
  grant: Read,
  environment: string,
  { after: [after], limit, withCiphertext }: SecretPage,
) {
  const beyond = after === undefined ? undefined : sql`${deletedSecrets.key} > ${after}`
  const which = and(restorable(grant, environment), beyond)
  return selectNewestOfEach(tx, grant, which, withCiphertext).limit(limit + 1)
}

function selectNewestOfEach(
  tx: Reading,
  { workspaceId }: Read | ProjectGrant<'secret.write'>,
  which: SQL | undefined,
  withCiphertext = false,
) {
  const { id, key, version, policy, deletedAt } = deletedSecrets
  const sealed = withCiphertext ? deletedSecrets.sealed : sql<null>`null`
  const hash = isSignedId(workspaceId) ? selectHash(deletedSecrets) : {}
  return tx
    .selectDistinctOn([key], { id, key, version, sealed, policy, ...hash, deleted_at: deletedAt })
    .from(deletedSecrets)
    .where(which)
    .orderBy(asc(key), desc(deletedAt), desc(id))
    .$dynamic()
}

function restorable(
  { workspaceId, projectId }: Read | ProjectGrant<'secret.write'>,
  environment: string,
): SQL | undefined {
  return and(
    eq(deletedSecrets.workspaceId, workspaceId),
    eq(deletedSecrets.projectId, projectId),
    eq(deletedSecrets.environment, environment),
    isNull(deletedSecrets.deletedWith),
    isRestorable(deletedSecrets.deletedAt),
  )
}

/** The restored names. Taken names are not restored. */
async function putBack(tx: Transaction, which: SQL): Promise<Set<string>> {
  const [rows] = await Promise.all([
    tx.execute<{ key: string }>(sql`
      insert into ${secrets} (${SECRET}) select ${SECRET} from ${deletedSecrets} where ${which}
      on conflict (project_id, environment, key) do nothing returning key`),
    tx.execute(sql`
      insert into ${secretVersions} (${VERSION}) select ${VERSION} from ${deletedSecretVersions}
      where secret_id in (select id from ${deletedSecrets} where ${which})
        and secret_id in (select id from ${secrets})`),
  ])
  return new Set(rows.map(({ key }) => key))
}
