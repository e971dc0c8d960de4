/**
 * The data that is sealed with the workspace key, and its replacement under the workspace's lock. Rows are
 * written in portions: a workspace may hold more than one statement can carry.
 */
import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm'
import type { OuterLayer, OuterPart } from '../../core/crypto/outer_layer.ts'
import { Fault } from '../../core/fault.ts'
import type { Grant } from '../../core/grant.ts'
import type { Reading, Transaction } from '../../database/open.ts'
import {
  deletedProjects,
  deletedSecrets,
  memberships,
  projects,
  secrets,
  secretVersions,
  tokenEnvelopes,
  tokens,
  users,
  workspaces,
} from '../../database/schema/index.ts'
import type { Chain } from '../../sigchain/index.ts'
import { grantedColumns } from '../statements/index.ts'
import type { RekeyBody } from './contract.ts'
import { sealEnvelope } from './memberships.ts'
import { type Holdings, placeOf, portions, type StoredSecret } from './rekey_checks.ts'

type Rekey = Grant<'workspace.update'>

/** Rows that are read at once. */
const PAGE = 1000

/** The policy version changes with every secret of the workspace. */
export async function readVersions(
  db: Reading,
  { workspaceId }: Rekey,
): Promise<{ epoch: number; policyVersion: number }> {
  const [found] = await db
    .select({ epoch: workspaces.epoch, policyVersion: workspaces.policyVersion })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
  if (!found) throw new Fault('not_found')
  return found
}

/** Members, tokens and projects: all but the secrets. */
export async function readHolders(
  db: Reading,
  { workspaceId }: Rekey,
  chain: Chain | null,
): Promise<Omit<Holdings, 'secrets'>> {
  const tokenRows = await db
    .select({
      ...grantedColumns,
      live: sql<boolean>`${tokens.revokedAt} is null`,
      provisioned: sql<boolean>`exists (
        select 1 from ${tokenEnvelopes} where ${tokenEnvelopes.tokenId} = ${tokens.id})`,
    })
    .from(tokens)
    .where(eq(tokens.workspaceId, workspaceId))
  const projectRows = await db
    .select({ id: projects.id })
    .from(projects)
    .where(eq(projects.workspaceId, workspaceId))
  return {
    members: await readMembers(db, workspaceId, chain),
    tokens: new Map(tokenRows.map((token) => [token.id, token])),
    projectIds: new Set(projectRows.map(({ id }) => id)),
  }
}

/** In a signed workspace those of its chain: no row gets the new key, and none keeps it from anybody. */
async function readMembers(
  db: Reading,
  workspaceId: string,
  chain: Chain | null,
): Promise<Holdings['members']> {
  const rows = await db
    .select({ userId: memberships.userId, role: memberships.role, status: memberships.status })
    .from(memberships)
    .where(eq(memberships.workspaceId, workspaceId))
  const stored = new Map(rows.map(({ userId, ...member }) => [userId, member]))
  if (chain === null) return stored
  const signed = [...chain.members.keys()]
  const people = await db.select({ id: users.id }).from(users).where(inArray(users.id, signed))
  return new Map(
    people.map(({ id }) => {
      const role = chain.members.get(id)?.role ?? 'read_only'
      return [id, stored.get(id) ?? { role, status: 'invited' }]
    }),
  )
}

export async function readSecretsToRekey(
  db: Reading,
  { workspaceId }: Rekey,
): Promise<Holdings['secrets']> {
  const found = new Map<string, StoredSecret>()
  let after: string | undefined
  do {
    const rows = await db
      .select({
        id: secrets.id,
        project_id: secrets.projectId,
        environment: secrets.environment,
        key: secrets.key,
        policy: secrets.policy,
        version: secrets.version,
      })
      .from(secrets)
      .where(
        and(
          eq(secrets.workspaceId, workspaceId),
          after === undefined ? undefined : gt(secrets.id, after),
        ),
      )
      .orderBy(asc(secrets.id))
      .limit(PAGE)
    for (const secret of rows) found.set(placeOf(secret), secret)
    after = rows.length < PAGE ? undefined : rows.at(-1)?.id
  } while (after !== undefined)
  return found
}

export async function replaceEnvelopes(
  tx: Transaction,
  outer: OuterLayer,
  { workspaceId }: Rekey,
  held: Holdings,
  body: RekeyBody,
): Promise<void> {
  for (const portion of portions(body.members, (it) => it.encrypted_workspace_key.length)) {
    const rows = portion.map(async ({ user_id: userId, encrypted_workspace_key: envelope }) => ({
      workspaceId,
      userId,
      // Required of an inserted row; the conflict below leaves what is stored.
      ...(held.members.get(userId) ?? { role: 'read_only' as const, status: 'invited' as const }),
      encryptedWorkspaceKey: await sealEnvelope(outer, { workspaceId, userId }, envelope),
    }))
    await tx
      .insert(memberships)
      .values(await Promise.all(rows))
      .onConflictDoUpdate({
        target: [memberships.workspaceId, memberships.userId],
        set: {
          encryptedWorkspaceKey: sql`excluded.encrypted_workspace_key`,
          updatedAt: sql`now()`,
        },
      })
  }
}

/**
 * Values and versions, of which only the current one stays: the older were under the old key and could
 * not be opened again.
 */
export async function replaceSecrets(
  tx: Transaction,
  { workspaceId, userId }: Rekey,
  sealed: readonly string[],
): Promise<void> {
  // One parameter for all rows: a parameter for each value would cost the driver more than the rest.
  for (const rows of sealed) {
    await tx.execute(sql`
      with sent as (
        select * from json_to_recordset(${rows}::text::json)
          as r(id uuid, version integer, sealed text, sealed_version text, value_hash text)
      ), replaced as (
        update ${secrets} set value = decode(sent.sealed, 'base64'), version = sent.version,
          value_hash = decode(sent.value_hash, 'base64'), updated_at = now()
        from sent where ${secrets.id} = sent.id and ${secrets.workspaceId} = ${workspaceId}
        returning ${secrets.id}, ${secrets.version}, ${secrets.policy}, ${secrets.valueHash},
          sent.sealed_version
      ), kept as (
        -- A row that stays needs no check of its foreign keys, which takes longer than the row.
        update ${secretVersions} v set version = replaced.version, policy = replaced.policy,
          value = decode(sealed_version, 'base64'), value_hash = replaced.value_hash,
          created_by = ${userId}::uuid, created_at = now()
        from replaced where v.secret_id = replaced.id and v.version = replaced.version - 1
        returning v.secret_id
      )
      insert into ${secretVersions} (secret_id, version, policy, value, value_hash, created_by)
      select id, version, policy, decode(sealed_version, 'base64'), value_hash, ${userId}::uuid from replaced
        where id not in (select secret_id from kept)`)
  }
  await tx.execute(sql`
    delete from ${secretVersions} v using ${secrets} s
    where s.workspace_id = ${workspaceId} and v.secret_id = s.id and v.version < s.version`)
}

/** Tokens that are left out, or revoked in the meantime, keep nothing. */
export async function replaceGrants(
  tx: Transaction,
  outer: OuterLayer,
  { workspaceId }: Rekey,
  held: Holdings,
  { epoch, tokens: sent }: RekeyBody,
  signed: boolean,
): Promise<void> {
  await tx.delete(tokenEnvelopes).where(eq(tokenEnvelopes.workspaceId, workspaceId))
  const grants = sent
    .filter(({ token_id }) => held.tokens.get(token_id)?.live)
    .flatMap(({ token_id, envelopes }) => envelopes.map((entry) => ({ token_id, ...entry })))
  for (const portion of portions(grants, ({ envelope }) => envelope.length)) {
    const rows = portion.map(async ({ token_id: tokenId, project_id: projectId, ...entry }) => {
      const { environment } = entry
      const row: OuterPart[] = [{ uuid: tokenId }, { uuid: projectId }, { text: environment }]
      const raw = Uint8Array.fromBase64(entry.envelope)
      const envelope = await outer.seal('token_envelopes.envelope', workspaceId, row, raw)
      const { statement = null, signature } = signed ? entry : {}
      return {
        ...{ tokenId, workspaceId, projectId, environment, epoch, envelope, statement },
        signature: signature === undefined ? null : Uint8Array.fromBase64(signature),
      }
    })
    await tx.insert(tokenEnvelopes).values(await Promise.all(rows))
  }
}

/** Deleted items are sealed with the old key, and nobody can seal them again. */
export async function dropDeleted(tx: Transaction, { workspaceId }: Rekey): Promise<void> {
  await tx.delete(deletedProjects).where(eq(deletedProjects.workspaceId, workspaceId))
  await tx.delete(deletedSecrets).where(eq(deletedSecrets.workspaceId, workspaceId))
}

/** Compare and swap; false when the epoch is not the one before. */
export async function advanceEpoch(
  tx: Transaction,
  { workspaceId }: Rekey,
  epoch: number,
): Promise<boolean> {
  const advanced = await tx
    .update(workspaces)
    .set({ epoch, rekeyRequired: false, updatedAt: sql`now()` })
    .where(and(eq(workspaces.id, workspaceId), eq(workspaces.epoch, epoch - 1)))
    .returning({ id: workspaces.id })
  return advanced.length > 0
}
