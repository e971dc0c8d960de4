/**
 * What a rekey replaces, read and written under the workspace's lock. Rows are written in chunks: a
 * workspace may hold more than one statement can carry.
 */
import { and, eq, inArray, sql } from 'drizzle-orm'
import { fromBase64 } from '../../platform/crypto/encoding.ts'
import { type OuterLayer, type OuterPart, secretRow } from '../../platform/crypto/outer_layer.ts'
import type { Transaction } from '../../platform/db/open.ts'
import {
  memberships,
  projects,
  secrets,
  secretVersions,
  tokenEnvelopes,
  tokens,
  workspaces,
} from '../../platform/db/schema/index.ts'
import type { Grant, Role } from '../../platform/grant.ts'
import type { RekeyBody } from './contract.ts'
import { sealEnvelope } from './memberships.ts'

type Rekey = Grant<'workspace.update'>

/** Rows per statement. */
const CHUNK = 500

export type HeldSecret = {
  id: string
  project_id: string
  environment: string
  key: string
  policy: unknown
  version: number
}

export type HeldToken = {
  id: string
  label: string
  projectId: string | null
  environment: string | null
  live: boolean
  /** Whether it holds any envelope. */
  provisioned: boolean
}

/** All that is sealed under the workspace key, and for whom. */
export type Holdings = {
  /** By user id; invited ones too, since their envelopes must stay good. */
  members: Map<string, { role: Role; status: 'active' | 'invited' }>
  tokens: Map<string, HeldToken>
  projectIds: Set<string>
  /** By `placeOf`. */
  secrets: Map<string, HeldSecret>
}

/** The identity of a secret within a workspace. */
export function placeOf({
  project_id,
  environment,
  key,
}: Pick<HeldSecret, 'project_id' | 'environment' | 'key'>): string {
  return `${project_id} ${environment} ${key}`
}

export async function readHoldings(tx: Transaction, { workspaceId }: Rekey): Promise<Holdings> {
  const members = await tx
    .select({ userId: memberships.userId, role: memberships.role, status: memberships.status })
    .from(memberships)
    .where(eq(memberships.workspaceId, workspaceId))
  const tokenRows = await tx
    .select({
      id: tokens.id,
      label: tokens.label,
      projectId: tokens.projectId,
      environment: tokens.environment,
      live: sql<boolean>`${tokens.revokedAt} is null`,
      provisioned: sql<boolean>`exists (
        select 1 from ${tokenEnvelopes} where ${tokenEnvelopes.tokenId} = ${tokens.id})`,
    })
    .from(tokens)
    .where(eq(tokens.workspaceId, workspaceId))
  const projectRows = await tx
    .select({ id: projects.id })
    .from(projects)
    .where(eq(projects.workspaceId, workspaceId))
  const secretRows = await tx
    .select({
      id: secrets.id,
      project_id: secrets.projectId,
      environment: secrets.environment,
      key: secrets.key,
      policy: secrets.policy,
      version: secrets.version,
    })
    .from(secrets)
    .where(eq(secrets.workspaceId, workspaceId))
  return {
    members: new Map(members.map(({ userId, ...member }) => [userId, member])),
    tokens: new Map(tokenRows.map((token) => [token.id, token])),
    projectIds: new Set(projectRows.map(({ id }) => id)),
    secrets: new Map(secretRows.map((secret) => [placeOf(secret), secret])),
  }
}

export async function replaceEnvelopes(
  tx: Transaction,
  outer: OuterLayer,
  { workspaceId }: Rekey,
  held: Holdings,
  body: RekeyBody,
): Promise<void> {
  for (const chunk of chunks(body.members)) {
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
  for (const chunk of chunks(body.secrets)) {
    const rows = await Promise.all(
      chunk.map((secret) =>
        sealSecret(outer, workspaceId, held.secrets.get(placeOf(secret)), secret),
      ),
    )
    await tx
      .insert(secrets)
      .values(rows.map(({ sealedVersion: _, ...row }) => ({ ...row, workspaceId })))
      .onConflictDoUpdate({
        target: secrets.id,
        set: {
          sealed: sql`excluded.value`,
          version: sql`excluded.version`,
          updatedAt: sql`now()`,
        },
      })
    await tx.insert(secretVersions).values(
      rows.map(({ id, version, policy, sealedVersion }) => ({
        secretId: id,
        version,
        policy,
        sealed: sealedVersion,
        createdBy: userId,
      })),
    )
  }
}

async function sealSecret(
  outer: OuterLayer,
  workspaceId: string,
  stored: HeldSecret | undefined,
  sent: RekeyBody['secrets'][number],
) {
  if (!stored) throw new TypeError('a secret was not checked')
  const { id, project_id: projectId, environment, key, policy } = stored
  const version = stored.version + 1
  const row = secretRow({ projectId, environment, key })
  const ciphertext = decode(sent.value)
  const [sealed, sealedVersion] = await Promise.all([
    outer.seal('secrets.value', workspaceId, row, ciphertext),
    outer.seal('secret_versions.value', workspaceId, [...row, { u32: version }], ciphertext),
  ])
  return { id, projectId, environment, key, policy, version, sealed, sealedVersion }
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
  for (const chunk of chunks(grants)) {
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

function chunks<T>(list: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / CHUNK) }, (_, index) =>
    list.slice(index * CHUNK, (index + 1) * CHUNK),
  )
}
