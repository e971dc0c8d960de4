/**
 * What a rekey replaces, written under the workspace's lock. Rows are written in chunks: a
 * workspace may hold more than one statement can carry.
 */
import { and, eq, inArray, sql } from 'drizzle-orm'
import { fromBase64, toBase64 } from '../../platform/crypto/encoding.ts'
import { type OuterLayer, type OuterPart, secretRow } from '../../platform/crypto/outer_layer.ts'
import type { Transaction } from '../../platform/db/open.ts'
import {
  deletedProjects,
  memberships,
  secrets,
  secretVersions,
  tokenEnvelopes,
  workspaces,
} from '../../platform/db/schema/index.ts'
import type { Grant } from '../../platform/grant.ts'
import type { RekeyBody } from './contract.ts'
import { sealEnvelope } from './memberships.ts'
import { type HeldSecret, type Holdings, placeOf } from './rekey_holdings.ts'

type Rekey = Grant<'workspace.update'>

/** Rows, and characters of base64, per statement: what is made of them in one go takes milliseconds. */
const CHUNK_ROWS = 200
const CHUNK_LENGTH = 262_144
export async function replaceEnvelopes(
  tx: Transaction,
  outer: OuterLayer,
  { workspaceId }: Rekey,
  held: Holdings,
  body: RekeyBody,
): Promise<void> {
  for (const chunk of chunks(body.members, (it) => it.encrypted_workspace_key.length)) {
    const rows = chunk.map(async ({ user_id: userId, encrypted_workspace_key: envelope }) => ({
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

/** Values and versions. The older versions were under the old key and could not be opened again. */
export async function replaceSecrets(
  tx: Transaction,
  outer: OuterLayer,
  { workspaceId, userId }: Rekey,
  held: Holdings,
  body: RekeyBody,
): Promise<void> {
  const own = tx
    .select({ id: secrets.id })
    .from(secrets)
    .where(eq(secrets.workspaceId, workspaceId))
  await tx.delete(secretVersions).where(inArray(secretVersions.secretId, own))
  for (const chunk of chunks(body.secrets, ({ value }) => value.length)) {
    const rows = await Promise.all(
      chunk.map((secret) =>
        sealSecret(outer, workspaceId, held.secrets.get(placeOf(secret)), secret),
      ),
    )
    // One parameter for all rows: a parameter for each value would cost the driver more than the rest.
    await tx.execute(sql`
      with sent as (
        select * from json_to_recordset(${JSON.stringify(rows)}::text::json)
          as r(id uuid, version integer, sealed text, sealed_version text)
      ), replaced as (
        update ${secrets} set value = decode(sent.sealed, 'base64'), version = sent.version,
          updated_at = now()
        from sent where ${secrets.id} = sent.id and ${secrets.workspaceId} = ${workspaceId}
        returning ${secrets.id}, ${secrets.version}, ${secrets.policy}, sent.sealed_version
      )
      insert into ${secretVersions} (secret_id, version, policy, value, created_by)
      select id, version, policy, decode(sealed_version, 'base64'), ${userId}::uuid from replaced`)
  }
}

async function sealSecret(
  outer: OuterLayer,
  workspaceId: string,
  stored: HeldSecret | undefined,
  sent: RekeyBody['secrets'][number],
) {
  if (!stored) throw new TypeError('a secret was not checked')
  const { id, project_id: projectId, environment, key } = stored
  const version = stored.version + 1
  const row = secretRow({ projectId, environment, key })
  const ciphertext = decode(sent.value)
  const [sealed, sealedVersion] = await Promise.all([
    outer.seal('secrets.value', workspaceId, row, ciphertext),
    outer.seal('secret_versions.value', workspaceId, [...row, { u32: version }], ciphertext),
  ])
  return { id, version, sealed: toBase64(sealed), sealed_version: toBase64(sealedVersion) }
}

/** Tokens that are left out, or revoked in the meantime, keep nothing. */
export async function replaceGrants(
  tx: Transaction,
  outer: OuterLayer,
  { workspaceId }: Rekey,
  held: Holdings,
  { epoch, tokens: sent }: RekeyBody,
): Promise<void> {
  await tx.delete(tokenEnvelopes).where(eq(tokenEnvelopes.workspaceId, workspaceId))
  const grants = sent
    .filter(({ token_id }) => held.tokens.get(token_id)?.live)
    .flatMap(({ token_id, envelopes }) => envelopes.map((entry) => ({ token_id, ...entry })))
  for (const chunk of chunks(grants, ({ envelope }) => envelope.length)) {
    const rows = chunk.map(async ({ token_id: tokenId, project_id: projectId, ...entry }) => {
      const { environment } = entry
      const row: OuterPart[] = [{ uuid: tokenId }, { uuid: projectId }, { text: environment }]
      const raw = decode(entry.envelope)
      const envelope = await outer.seal('token_envelopes.envelope', workspaceId, row, raw)
      return { tokenId, workspaceId, projectId, environment, epoch, envelope }
    })
    await tx.insert(tokenEnvelopes).values(await Promise.all(rows))
  }
}

/** What was deleted is under the old key, and nobody can seal it anew. */
export async function dropDeleted(tx: Transaction, { workspaceId }: Rekey): Promise<void> {
  await tx.delete(deletedProjects).where(eq(deletedProjects.workspaceId, workspaceId))
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

function decode(base64: string): Uint8Array {
  const bytes = fromBase64(base64)
  if (!bytes) throw new TypeError('a value was not validated')
  return bytes
}

function* chunks<T>(list: readonly T[], lengthOf: (entry: T) => number): Generator<T[]> {
  let chunk: T[] = []
  let length = 0
  for (const entry of list) {
    chunk.push(entry)
    length += lengthOf(entry)
    if (chunk.length < CHUNK_ROWS && length < CHUNK_LENGTH) continue
    yield chunk
    chunk = []
    length = 0
  }
  if (chunk.length > 0) yield chunk
}
