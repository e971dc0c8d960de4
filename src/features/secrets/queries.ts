/** The secrets' rows. Every statement names the project of its grant; writers need a write grant. */
import { and, asc, eq, gt, type SQL, sql } from 'drizzle-orm'
import { toBase64 } from '../../core/crypto/encoding.ts'
import type { ProjectGrant } from '../../core/grant.ts'
import { onTheWire, prepareList } from '../../database/list.ts'
import type { Reading, Transaction } from '../../database/open.ts'
import { clientOf, prepareOnce } from '../../database/prepared.ts'
import { derivedStates, secrets } from '../../database/schema/index.ts'
import type { Page } from '../../http/page.ts'
import { isSignedId } from '../../sigchain/index.ts'
import { type Hash, ofDerived, selectHash, shownColumns } from './shown.ts'

const VERSIONS_KEPT = 10

export type Read = ProjectGrant<'secret.read' | 'secret.write'>
type Write = ProjectGrant<'secret.write'>
export type SecretPage = Page & { withCiphertext: boolean }

/** Ciphertexts are large: a list reads them only when it shows them. */
const noCiphertext = sql<Uint8Array | null>`null`.as('sealed')
/** Bytes of ciphertexts in a page; the one that goes beyond is its last. */
const PAGE_BYTES = 4_194_304
/** The ciphertexts of one page. More rows indicate a next page. */
const sealedInPage = sql<Uint8Array | null>`case when
  sum(octet_length(${secrets.sealed})) over (order by ${secrets.key}) - octet_length(${secrets.sealed})
  < ${sql.raw(String(PAGE_BYTES))} then ${secrets.sealed} end`.as('sealed')

/** The start of the first page, because no key is empty. */
const BEFORE_ALL = ''

const selectNames = prepareList('secret_names', (db) => selectPage(db, noCiphertext))
const selectCiphertexts = prepareList(
  'secret_values',
  (db) => selectPage(db, sealedInPage),
  'sealed',
)
/** The columns in signed workspaces. */
const selectSignedNames = prepareList('signed_names', (db) =>
  selectPage(db, noCiphertext, selectHash(secrets)),
)
const selectSignedCiphertexts = prepareList(
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
    .select({ ...shownColumns, ...hash, sealed })
    .from(secrets)
    .leftJoin(derivedStates, ofDerived)
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

const selectByKey = prepareOnce((db) =>
  db
    .select({ ...shownColumns, sealed: secrets.sealed })
    .from(secrets)
    .leftJoin(derivedStates, ofDerived)
    .where(
      and(
        eq(secrets.workspaceId, sql.placeholder('workspaceId')),
        eq(secrets.projectId, sql.placeholder('projectId')),
        eq(secrets.environment, sql.placeholder('environment')),
        eq(secrets.key, sql.placeholder('key')),
      ),
    )
    .prepare('secret'),
)

export async function selectSecret(
  tx: Reading,
  { workspaceId, projectId }: Read,
  environment: string,
  key: string,
) {
  const [found] = await selectByKey(tx).execute({ workspaceId, projectId, environment, key })
  return found ?? null
}

/** The existing secrets among those to be written. */
type Current = { secrets: Map<string, Stored>; isKnownEnvironment: boolean }
type Stored = { id: string; version: number; policy: unknown }

const CURRENT = `select s.key, s.id, s.version, s.policy, p.environments @> array[$3] or exists (
    select from secrets o where o.project_id = p.id and o.environment = $3) as known
  from projects p left join secrets s on s.project_id = p.id and s.environment = $3
    and s.key in (select json_array_elements_text($4::text::json))
  where p.id = $1 and p.workspace_id = $2 for key share of p`

/**
 * The existing keys, and whether the environment holds anything or was made before; with the project held against its
 * deletion: a foreign key would notice that only while the rows are written, and could not say what happened. Returns
 * `null` when the project is gone. The workspace must be locked.
 */
export async function selectCurrent(
  tx: Transaction,
  { projectId, workspaceId }: Write,
  environment: string,
  keys: readonly string[],
): Promise<Current | null> {
  const parameters = [projectId, workspaceId, environment, JSON.stringify(keys)]
  const rows = await clientOf(tx).unsafe<(Stored & { key: string | null; known: boolean })[]>(
    CURRENT,
    parameters,
    { prepare: true },
  )
  const [first] = rows
  if (!first) return null
  const secrets = new Map(rows.flatMap((row) => (row.key === null ? [] : [[row.key, row]])))
  return { secrets, isKnownEnvironment: first.known }
}

/** A secret as it is to be stored: its ciphertext under the outer layer, once for its row and once for its version's. */
export type NextSecret = {
  /** The ID of the existing secret, or a new one. */
  id: string
  key: string
  version: number
  policy: unknown
  sealed: Uint8Array
  sealedVersion: Uint8Array
  valueHash?: Uint8Array
}

/** One statement for any number. Its text is always the same, so it is prepared, and drizzle does not make it again. */
const WRITE = `with sent as (
    select * from json_to_recordset($5::text::json) as r(id uuid, key text, version integer, policy text, sealed text,
      sealed_version text, hash text)),
  written as (
    insert into secrets as s (id, workspace_id, project_id, environment, key, policy, version, value, value_hash)
    select id, $1::text::uuid, $2::text::uuid, $3, key, policy::json, version, decode(sealed, 'base64'), decode(hash, 'base64')
    from sent
    on conflict (project_id, environment, key) do update set value = excluded.value, value_hash = excluded.value_hash,
      policy = excluded.policy, version = excluded.version, updated_at = now()
    returning s.id, s.key, s.created_at, s.updated_at),
  kept as (
    insert into secret_versions (secret_id, version, policy, value, value_hash, created_by)
    select w.id, r.version, r.policy::json, decode(r.sealed_version, 'base64'), decode(r.hash, 'base64'), $4::text::uuid
    from sent r join written w using (key))
  select id, to_json(created_at)::text as created, to_json(updated_at)::text as updated from written`

/** Writes the rows and their versions, and drops versions beyond the last ten. Returns when the first was made and changed. */
export async function writeSecrets(
  tx: Transaction,
  { workspaceId, projectId, userId }: Write,
  environment: string,
  list: readonly NextSecret[],
): Promise<{ id: string; created_at: string; updated_at: string } | null> {
  const sent = list.map(({ id, key, version, policy, sealed, sealedVersion, valueHash }) => ({
    id,
    key,
    version,
    // A text that contains JSON: PostgreSQL would decode the strings of nested JSON, and refuses U+0000 in them.
    policy: policy === null ? null : JSON.stringify(policy),
    sealed: toBase64(sealed),
    sealed_version: toBase64(sealedVersion),
    ...(valueHash && { hash: toBase64(valueHash) }),
  }))
  const overLimit = list.filter(({ version }) => version > VERSIONS_KEPT)
  const parameters = [workspaceId, projectId, environment, userId, JSON.stringify(sent)]
  type Written = { id: string; created: string; updated: string }
  const writing = clientOf(tx).unsafe<Written[]>(WRITE, parameters, { prepare: true })
  const [[first]] = await Promise.all([
    writing,
    pruneVersions(
      tx,
      overLimit.map(({ id }) => id),
    ),
  ])
  if (!first) return null
  const [created_at, updated_at] = [first.created, first.updated].map((time) =>
    onTheWire(JSON.parse(time)),
  )
  return { id: first.id, created_at: created_at ?? '', updated_at: updated_at ?? '' }
}

const PRUNE = `delete from secret_versions v using secrets s
  where s.id = v.secret_id and s.id in (select json_array_elements_text($1::text::json)::uuid)
    and v.version <= s.version - ${VERSIONS_KEPT}`

async function pruneVersions(tx: Transaction, secretIds: readonly string[]): Promise<void> {
  if (secretIds.length === 0) return
  await clientOf(tx).unsafe(PRUNE, [JSON.stringify(secretIds)], { prepare: true })
}

/** The deleted items: one secret, or all of the environment. Versions go with their secret. */
export async function deleteRows(
  tx: Transaction,
  grant: ProjectGrant<'secret.write' | 'project.delete'>,
  { environment, key }: { environment: string; key?: string },
) {
  return tx
    .delete(secrets)
    .where(
      and(
        eq(secrets.workspaceId, grant.workspaceId),
        eq(secrets.projectId, grant.projectId),
        eq(secrets.environment, environment),
        key === undefined ? undefined : eq(secrets.key, key),
      ),
    )
    .returning({ id: secrets.id, policy: secrets.policy })
}
