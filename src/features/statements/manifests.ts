/**
 * Manifests: what an environment holds, as the last who wrote there signed it. A write changes both in one
 * transaction, so that what is stored is always what somebody stored.
 */
import { and, eq, sql } from 'drizzle-orm'
import { buildUnverifiedFault } from '../../access/signed/chains.ts'
import { formatSeenName } from '../../access/signed/seen_states.ts'
import { toBase64 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import type { ProjectGrant } from '../../core/grant.ts'
import { prepareList } from '../../database/list.ts'
import type { Reading, Transaction } from '../../database/open.ts'
import { prepareOnce } from '../../database/prepared.ts'
import { manifests, secrets } from '../../database/schema/index.ts'
import { noteSigned, type SignedNote } from '../../database/signed_notes.ts'
import {
  type Chain,
  headSeqOf,
  isSignedId,
  Refusal,
  type Rows,
  readText,
  requireWriterNow,
  type SignedText,
  verifyManifest,
} from '../../sigchain/index.ts'
import { chainOf, type SignedServices } from '../links/index.ts'
import { requireSigned, verifyOrRefuse } from './accepting.ts'

type Write = ProjectGrant<'secret.write' | 'project.delete'>
type Writing = { tx: Transaction; grant: Write }
type Written = { key: string; valueHash?: Uint8Array }
type Before = Awaited<ReturnType<typeof readSigned>>
/** `before` is what was read before the write of `written`; without it, it is read now. */
type Sent = {
  environment: string
  manifest?: SignedText | undefined
  before?: Before
  written?: readonly Written[]
}

/** The signed manifest of an environment, and the hashes of its values; `null` in plain workspaces. */
export async function readSigned(
  { tx, grant }: Writing,
  services: Pick<SignedServices, 'db' | 'chains'>,
  environment: string,
) {
  if (!isSignedId(grant.workspaceId)) return null
  const [chain, current, rows] = await Promise.all([
    chainOf({ tx, grant }, services),
    selectNewest(tx, grant, environment),
    readHashes(tx, grant, environment),
  ])
  return chain && { chain, current, rows }
}

/**
 * Stores the manifest of what an environment holds with the write that it came with. The workspace
 * must be locked. Plain workspaces have no manifest.
 *
 * @throws Fault `link_required`, `link_refused`; `conflict` when somebody else wrote since it was signed
 */
export async function acceptManifest(
  { tx, grant }: Writing,
  services: Pick<SignedServices, 'db' | 'chains'>,
  { environment, manifest, written = [], ...sent }: Sent,
): Promise<void> {
  const { workspaceId, projectId, userId } = grant
  const signed = requireSigned(workspaceId, manifest, 'manifest')
  const before = sent.before ?? (await readSigned({ tx, grant }, services, environment))
  if (!signed || !before) return
  const { chain, current } = before
  const headSeq = current && readStoredHeadSeq(chain, current)
  const changed = written.map(
    ({ key, valueHash = [] }) => [key, new Uint8Array(valueHash)] as const,
  )
  const rows = new Map([...before.rows, ...changed])
  const place = { projectId, environment }
  const verified = await judgeManifest(
    { userId, chain },
    { signed, path: 'manifest' },
    { place, headSeq, revisionOf: () => current?.revision, rowsOf: () => rows },
  )
  await storeManifest(tx, { workspaceId, ...place, revision: verified.revision }, signed)
  noteSigned(tx, noteOf(workspaceId, verified))
}

type EnvironmentPlace = { projectId: string; environment: string }

/** The stored state: the revision to follow (0 without one), and the hashes to cover. */
type Stored = {
  /** The required environment; by default the one in the manifest. */
  place?: EnvironmentPlace
  /** The link of the previous manifest: heads never go back. */
  headSeq?: number | undefined
  revisionOf(place: EnvironmentPlace): number | undefined
  rowsOf(place: EnvironmentPlace): Rows
}

/** @throws Fault `link_refused`, `conflict`, `epoch_conflict` */
export async function judgeManifest(
  { userId, chain }: { userId: string; chain: Chain },
  { signed, path }: { signed: SignedText; path: string },
  { place: demanded, headSeq, revisionOf, rowsOf }: Stored,
) {
  const text = await verifyOrRefuse(userId, path, () => readText('manifest', signed.statement))
  const said = { projectId: text.project_id, environment: text.environment }
  const place = demanded ?? said
  const revision = revisionOf(place) ?? 0
  if (text.revision !== revision + 1) throw new Fault('conflict')
  if (text.epoch !== chain.epoch) throw new Fault('epoch_conflict')
  const covered = { ...place, rows: rowsOf(place) }
  return verifyOrRefuse(userId, path, async () => {
    const seen = { revision, root: '', headSeq }
    const verified = await verifyManifest(chain, signed, { ...covered, seen })
    requireWriterNow(chain, verified)
    return verified
  })
}

/** To be noted with what is stored of it. */
export function noteOf(
  workspaceId: string,
  { project_id: projectId, environment, ...text }: Awaited<ReturnType<typeof judgeManifest>>,
): SignedNote {
  const { revision: number, root: hash, headSeq: head } = text
  return { name: formatSeenName(workspaceId, { projectId, environment }), number, hash, head }
}

type Place = { workspaceId: string; projectId: string; environment: string; revision: number }

const insertManifest = prepareOnce((db) => {
  const { placeholder } = sql
  return db
    .insert(manifests)
    .values({
      workspaceId: placeholder('workspaceId'),
      projectId: placeholder('projectId'),
      environment: placeholder('environment'),
      revision: placeholder('revision'),
      statement: placeholder('statement'),
      signature: placeholder('signature'),
    })
    .onConflictDoUpdate({
      target: [manifests.workspaceId, manifests.projectId, manifests.environment],
      set: {
        revision: sql`excluded.revision`,
        statement: sql`excluded.statement`,
        signature: sql`excluded.signature`,
      },
    })
    .prepare('store_manifest')
})

export async function storeManifest(
  tx: Transaction,
  place: Place,
  { statement, signature }: SignedText,
): Promise<void> {
  const bytes = Uint8Array.fromBase64(signature)
  await insertManifest(tx).execute({ ...place, statement, signature: bytes })
}

/** The newest of an environment as it is shown; `null` where nothing was ever written, and in plain workspaces. */
export async function selectManifest(
  db: Reading,
  grant: ProjectGrant<'secret.read'>,
  environment: string,
): Promise<SignedText | null> {
  if (!isSignedId(grant.workspaceId)) return null
  const found = await selectNewest(db, grant, environment)
  return found ? { statement: found.statement, signature: toBase64(found.signature) } : null
}

const selectStored = prepareOnce((db) =>
  db
    .select()
    .from(manifests)
    .where(
      and(
        eq(manifests.workspaceId, sql.placeholder('workspaceId')),
        eq(manifests.projectId, sql.placeholder('projectId')),
        eq(manifests.environment, sql.placeholder('environment')),
      ),
    )
    .prepare('manifest'),
)

async function selectNewest(
  db: Reading,
  { workspaceId, projectId }: ProjectGrant,
  environment: string,
) {
  const [found] = await selectStored(db).execute({ workspaceId, projectId, environment })
  return found
}

/** @throws Fault `unverified_state` for what is no manifest */
function readStoredHeadSeq(chain: Chain, { statement }: { statement: string }): number | undefined {
  try {
    return headSeqOf(chain, statement)
  } catch (error) {
    throw error instanceof Refusal ? buildUnverifiedFault(error) : error
  }
}

const selectHashes = prepareList(
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

/** The hashes of all secrets of an environment. Values are stored with their hash, so none is decrypted. */
async function readHashes(
  tx: Transaction,
  { workspaceId, projectId }: Write,
  environment: string,
): Promise<Rows> {
  const rows = await selectHashes(tx, { workspaceId, projectId, environment })
  return new Map(rows.map(({ key, hash }) => [key, new Uint8Array(hash ?? [])]))
}
