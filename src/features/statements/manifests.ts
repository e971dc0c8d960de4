/**
 * Manifests: what an environment holds, as the last who wrote there signed it. A write changes both in one
 * transaction, so that what is stored is always what somebody stored.
 */
import { and, eq, sql } from 'drizzle-orm'
import { toBase64 } from '../../platform/crypto/encoding.ts'
import { preparedList } from '../../platform/db/list.ts'
import type { Reading, Transaction } from '../../platform/db/open.ts'
import { manifests, secrets } from '../../platform/db/schema/index.ts'
import { Fault } from '../../platform/fault.ts'
import type { ProjectGrant } from '../../platform/grant.ts'
import { type Rows, readText, type SignedText, verifyManifest } from '../../sigchain/index.ts'
import { chainOf, type SignedServices } from '../links/index.ts'
import { accepted, requireSigned } from './accepting.ts'

type Write = ProjectGrant<'secret.write' | 'project.delete'>
type Writing = { tx: Transaction; grant: Write }
type Sent = { environment: string; manifest?: SignedText | undefined }

/**
 * Stores the manifest of what an environment holds now, after the write that it came with. The workspace
 * must be locked. In plain workspaces there is none.
 *
 * @throws Fault `link_required`, `link_refused`; `conflict` when somebody else wrote since it was signed
 */
export async function acceptManifest(
  { tx, grant }: Writing,
  services: Pick<SignedServices, 'db' | 'chains'>,
  { environment, manifest }: Sent,
): Promise<void> {
  const { workspaceId, projectId, userId } = grant
  const signed = requireSigned(workspaceId, manifest, 'manifest')
  const chain = await chainOf({ tx, grant }, services)
  if (!signed || !chain) return
  const { revision, epoch } = await accepted(userId, 'manifest', () =>
    readText('manifest', signed.statement),
  )
  if (revision !== (await revisionOf(tx, grant, environment)) + 1) throw new Fault('conflict')
  if (epoch !== chain.epoch) throw new Fault('epoch_conflict')
  const rows = await readHashes(tx, grant, environment)
  const place = { projectId, environment, rows }
  await accepted(userId, 'manifest', () => verifyManifest(chain, signed, place))
  await storeManifest(tx, { workspaceId, projectId, environment, revision }, signed)
}

type Place = { workspaceId: string; projectId: string; environment: string; revision: number }

export async function storeManifest(
  tx: Transaction,
  place: Place,
  { statement, signature }: SignedText,
): Promise<void> {
  const set = {
    revision: place.revision,
    statement,
    signature: Uint8Array.fromBase64(signature),
  }
  await tx
    .insert(manifests)
    .values({ ...place, ...set })
    .onConflictDoUpdate({
      target: [manifests.workspaceId, manifests.projectId, manifests.environment],
      set,
    })
}

/** The newest of an environment as it is shown; `null` where nothing was ever written. */
export async function selectManifest(
  db: Reading,
  grant: ProjectGrant<'secret.read'>,
  environment: string,
): Promise<SignedText | null> {
  const [found] = await db
    .select({ statement: manifests.statement, signature: manifests.signature })
    .from(manifests)
    .where(isAt(grant, environment))
  return found ? { ...found, signature: toBase64(found.signature) } : null
}

async function revisionOf(tx: Transaction, grant: Write, environment: string): Promise<number> {
  const [found] = await tx
    .select({ revision: manifests.revision })
    .from(manifests)
    .where(isAt(grant, environment))
  return found?.revision ?? 0
}

function isAt({ workspaceId, projectId }: ProjectGrant, environment: string) {
  return and(
    eq(manifests.workspaceId, workspaceId),
    eq(manifests.projectId, projectId),
    eq(manifests.environment, environment),
  )
}

const selectHashes = preparedList(
  'value_hashes',
  (db) =>
    db
      .select({ key: secrets.key, hash: secrets.valueHash })
      .from(secrets)
      .where(
        and(
          eq(secrets.workspaceId, sql.placeholder('workspaceId')),
          eq(secrets.projectId, sql.placeholder('projectId')),
          eq(secrets.environment, sql.placeholder('environment')),
        ),
      )
      .orderBy(secrets.key),
  'hash',
)

/** Of all secrets of an environment: values are stored with their hash, and not opened for it. */
async function readHashes(
  tx: Transaction,
  { workspaceId, projectId }: Write,
  environment: string,
): Promise<Rows> {
  const rows = await selectHashes(tx, { workspaceId, projectId, environment })
  return new Map(rows.map(({ key, hash }) => [key, new Uint8Array(hash ?? [])]))
}
