/**
 * What a rekey replaces, written under the workspace's lock. Rows are written in portions: a
 * workspace may hold more than one statement can carry.
 */
import { and, eq, sql } from 'drizzle-orm'
import type { OuterLayer, OuterPart } from '../../core/crypto/outer_layer.ts'
import type { Grant } from '../../core/grant.ts'
import type { Transaction } from '../../database/open.ts'
import {
  deletedProjects,
  deletedSecrets,
  manifests,
  memberships,
  secrets,
  secretVersions,
  tokenEnvelopes,
  workspaces,
} from '../../database/schema/index.ts'
import { noteSigned } from '../../database/signed_notes.ts'
import { storeGrant } from '../statements/index.ts'
import type { RekeyBody } from './contract.ts'
import { sealEnvelope } from './memberships.ts'
import type { Holdings } from './rekey_holdings.ts'
import { decodeValid, portions, type SealedSecrets } from './rekey_prepare.ts'
import type { SignedRekey } from './rekey_signed.ts'

type Rekey = Grant<'workspace.update'>

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
  sealed: readonly SealedSecrets[],
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
      const raw = decodeValid(entry.envelope)
      const envelope = await outer.seal('token_envelopes.envelope', workspaceId, row, raw)
      const { statement = null, signature } = signed ? entry : {}
      return {
        ...{ tokenId, workspaceId, projectId, environment, epoch, envelope, statement },
        signature: signature === undefined ? null : decodeValid(signature),
      }
    })
    await tx.insert(tokenEnvelopes).values(await Promise.all(rows))
  }
}

/** What the members signed besides: grants of tokens that live, and all manifests; those of what was deleted go. */
export async function replaceSigned(
  tx: Transaction,
  { workspaceId }: Rekey,
  held: Holdings,
  { grants, manifests: sent, notes }: SignedRekey,
): Promise<void> {
  for (const { tokenId, ...grant } of grants)
    if (held.tokens.get(tokenId)?.live) await storeGrant(tx, { workspaceId, tokenId }, grant)
  for (const note of notes) noteSigned(tx, note)
  await tx.delete(manifests).where(eq(manifests.workspaceId, workspaceId))
  for (const portion of portions(sent, ({ statement }) => statement.length)) {
    const rows = portion.map(({ signature, ...manifest }) => ({
      ...manifest,
      workspaceId,
      signature: decodeValid(signature),
    }))
    await tx.insert(manifests).values(rows)
  }
}

/** What was deleted is under the old key, and nobody can seal it anew. */
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
