/** The secrets' rows. Every statement names the project of its grant; writers need a write grant. */
import {
  type AnyColumn,
  and,
  arrayContains,
  asc,
  eq,
  gt,
  inArray,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { ProjectGrant } from '../../core/grant.ts'
import { preparedList } from '../../database/list.ts'
import type { Reading, Transaction } from '../../database/open.ts'
import { projects, secrets, secretVersions } from '../../database/schema/index.ts'
import type { Page } from '../../http/page.ts'
import { isSignedId } from '../../sigchain/index.ts'

const VERSIONS_KEPT = 10

export type Read = ProjectGrant<'secret.read' | 'secret.write'>
type Write = ProjectGrant<'secret.write'>
export type SecretPage = Page & { withCiphertext: boolean }

type Hash = { value_sha256: SQL.Aliased<string | null> }

/** The hash of a value as on the wire; plain workspaces have none. */
export function selectHash({ valueHash }: { valueHash: AnyColumn }): Hash {
  const base64url = sql<
    string | null
  >`translate(rtrim(encode(${valueHash}, 'base64'), '='), '+/', '-_')`
  return { value_sha256: base64url.as('value_sha256') }
}

/** What is shown of a secret besides its ciphertext. */
const shown = {
  id: secrets.id,
  key: secrets.key,
  environment: secrets.environment,
  policy: secrets.policy,
  version: secrets.version,
  created_at: secrets.createdAt,
  updated_at: secrets.updatedAt,
}

/** Ciphertexts are large: a list reads them only when it shows them. */
const noCiphertext = sql<Uint8Array | null>`null`.as('sealed')
/** Bytes of ciphertexts in a page; the one that goes beyond is its last. */
const PAGE_BYTES = 4_194_304
/** Those of one page; further rows tell that there is a next one. */
const sealedInPage = sql<Uint8Array | null>`case when
  sum(octet_length(${secrets.sealed})) over (order by ${secrets.key}) - octet_length(${secrets.sealed})
  < ${sql.raw(String(PAGE_BYTES))} then ${secrets.sealed} end`.as('sealed')

/** Where the first page begins: no key is empty. */
const BEFORE_ALL = ''

const selectNames = preparedList('secret_names', (db) => selectPage(db, noCiphertext))
const selectCiphertexts = preparedList(
  'secret_values',
  (db) => selectPage(db, sealedInPage),
  'sealed',
)
/** The same in signed workspaces. */
const selectSignedNames = preparedList('signed_names', (db) =>
  selectPage(db, noCiphertext, selectHash(secrets)),
)
const selectSignedCiphertexts = preparedList(
  'signed_values',
  (db) => selectPage(db, sealedInPage, selectHash(secrets)),
  'sealed',
)

/** A page by key; with ciphertexts it may end before `limit` rows. */
export async function selectSecretPage(
  db: Reading,
  { workspaceId, projectId }: Read,
  environment: string,
  { after: [after], limit, withCiphertext }: SecretPage,
) {
  const [names, ciphertexts] = isSignedId(workspaceId)
    ? [selectSignedNames, selectSignedCiphertexts]
    : [selectNames, selectCiphertexts]
  const select = withCiphertext ? ciphertexts : names
  const page = { environment, after: after ?? BEFORE_ALL, count: limit + 1 }
  const rows = await select(db, { workspaceId, projectId, ...page })
  const beyond = withCiphertext ? rows.findIndex(({ sealed }) => sealed === null) : -1
  const inPage = beyond < 0 ? Math.min(limit, rows.length) : Math.min(limit, beyond)
  return { rows: rows.slice(0, inPage), hasMore: rows.length > inPage }
}

function selectPage(db: Reading, sealed: SQL.Aliased<Uint8Array | null>, hash: Partial<Hash> = {}) {
  const { placeholder } = sql
  return db
    .select({ ...shown, ...hash, sealed })
    .from(secrets)
    .where(
      and(
        eq(secrets.workspaceId, placeholder('workspaceId')),
        eq(secrets.projectId, placeholder('projectId')),
        eq(secrets.environment, placeholder('environment')),
        gt(secrets.key, placeholder('after')),
      ),
    )
    .orderBy(asc(secrets.key))
    .limit(placeholder('count'))
}

export async function selectSecret(tx: Reading, grant: Read, environment: string, key: string) {
  const [found] = await tx
    .select({ ...shown, sealed: secrets.sealed })
    .from(secrets)
    .where(and(inEnvironment(grant, environment), eq(secrets.key, key)))
  return found ?? null
}

/**
 * Those keys that exist, with the version and policy of each, and with the project held against its deletion: a foreign key
 * would notice that only while the rows are written, and could not say what happened. Returns
 * `null` when the project is gone. The workspace must be locked.
 */
export async function selectCurrent(
  tx: Transaction,
  grant: Write,
  environment: string,
  keys: readonly string[],
): Promise<Map<string, { version: number; policy: unknown }> | null> {
  const rows = await tx
    .select({ key: secrets.key, version: secrets.version, policy: secrets.policy })
    .from(projects)
    .leftJoin(
      secrets,
      and(
        eq(secrets.projectId, projects.id),
        eq(secrets.environment, environment),
        inArray(secrets.key, [...keys]),
      ),
    )
    .where(and(eq(projects.id, grant.projectId), eq(projects.workspaceId, grant.workspaceId)))
    .for('key share', { of: projects })
  if (rows.length === 0) return null
  return new Map(
    rows.flatMap(({ key, version, policy }) =>
      key === null || version === null ? [] : [[key, { version, policy }]],
    ),
  )
}

/** Whether an environment holds nothing yet, and was not made before. The workspace must be locked. */
export async function isNewEnvironment(tx: Transaction, grant: Write, environment: string) {
  const [any] = await tx
    .select({ id: secrets.id })
    .from(secrets)
    .where(inEnvironment(grant, environment))
    .limit(1)
  if (any) return false
  const made = arrayContains(projects.environments, [environment])
  return (await tx.$count(projects, and(eq(projects.id, grant.projectId), made))) === 0
}

/** A secret as it is to be stored: its ciphertext under the outer layer, once for its row and once for its version's. */
export type NextSecret = {
  key: string
  version: number
  policy: unknown
  sealed: Uint8Array
  sealedVersion: Uint8Array
  valueHash?: Uint8Array
}

/** Writes the rows and their versions, and drops versions beyond the last ten. */
export async function writeSecrets(
  tx: Transaction,
  grant: Write,
  environment: string,
  list: readonly NextSecret[],
) {
  const written = await tx
    .insert(secrets)
    .values(
      list.map(({ sealedVersion: _, ...secret }) => ({
        ...secret,
        workspaceId: grant.workspaceId,
        projectId: grant.projectId,
        environment,
      })),
    )
    .onConflictDoUpdate({
      target: [secrets.projectId, secrets.environment, secrets.key],
      set: {
        sealed: sql`excluded.value`,
        valueHash: sql`excluded.value_hash`,
        policy: sql`excluded.policy`,
        version: sql`excluded.version`,
        updatedAt: sql`now()`,
      },
    })
    .returning(shown)
  const idOf = new Map(written.map(({ key, id }) => [key, id]))
  await tx.insert(secretVersions).values(
    list.map(({ key, version, policy, sealedVersion, valueHash: hash }) => ({
      secretId: idOf.get(key) ?? '',
      version,
      policy,
      sealed: sealedVersion,
      ...(hash && { valueHash: hash }),
      createdBy: grant.userId,
    })),
  )
  const crowded = list.filter(({ version }) => version > VERSIONS_KEPT)
  await pruneVersions(
    tx,
    crowded.map(({ key }) => idOf.get(key) ?? ''),
  )
  return written
}

async function pruneVersions(tx: Transaction, secretIds: readonly string[]): Promise<void> {
  if (secretIds.length === 0) return
  await tx.delete(secretVersions).where(
    and(
      inArray(secretVersions.secretId, [...secretIds]),
      sql`${secretVersions.version} <= (
        select ${secrets.version} from ${secrets} where ${secrets.id} = ${secretVersions.secretId}
      ) - ${sql.raw(String(VERSIONS_KEPT))}`,
    ),
  )
}

/** The id of what was deleted, or `null`. Versions go with their secret. */
export async function deleteRow(tx: Transaction, grant: Write, environment: string, key: string) {
  const [deleted] = await tx
    .delete(secrets)
    .where(and(inEnvironment(grant, environment), eq(secrets.key, key)))
    .returning({ id: secrets.id })
  return deleted?.id ?? null
}

function inEnvironment(grant: Read, environment: string) {
  return and(
    eq(secrets.workspaceId, grant.workspaceId),
    eq(secrets.projectId, grant.projectId),
    eq(secrets.environment, environment),
  )
}
