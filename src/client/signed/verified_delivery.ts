/**
 * A sealed delivery from a signed workspace, verified with only the token (protocol 12): the token is bound to the
 * first link and so to the chain, which verifies grants and stored secrets.
 */
import { type Bytes, fromBase64, toBase64 } from '../../core/crypto/encoding.ts'
import { tokenKeyPair } from '../../core/crypto/token.ts'
import {
  type Chain,
  extend,
  isSignedId,
  Refusal,
  readFirstHash,
  replay,
  requireBinding,
  requireContinues,
  type SignedText,
  type TokenGrant,
  verifyEnvelope,
  verifyGrant,
} from '../../sigchain/index.ts'
import type { KnownManifest } from './chain.ts'
import { manifestRows, type StoredRows, verifyStored } from './manifests.ts'
import type { Place } from './statements.ts'

type Envelope = {
  project_id: string
  environment: string
  epoch: number
  envelope: string
  statement?: string | undefined
  signature?: string | undefined
}

export type SealedAnswer = {
  workspace_id: string
  project_id: string
  environment: string
  sealed: Record<string, { value: string }>
  envelopes: readonly Envelope[]
  links?: readonly SignedText[] | undefined
  grant?: SignedText | null | undefined
  binding?: string | null | undefined
  manifest?: SignedText | null | undefined
  /** Stored secrets that are not delivered. */
  value_sha256?: Record<string, string> | undefined
}

export type Bearer = { id: string; secret: Bytes }

/** The verified state of an environment. Later states must follow it. */
export type Seen = { seq: number; head: string } & KnownManifest
/** The known state of the chain, and of the environment if it was seen. */
export type SeenBefore = Omit<Seen, keyof KnownManifest> & Partial<KnownManifest>

type Options = {
  /** The links after one, at most a page of them. */
  more: (after: number) => Promise<readonly SignedText[]>
  seen?: SeenBefore | undefined
  asked?: { project_id?: string | undefined; environment?: string | undefined }
  now: Date
}

/** Links in one answer. */
const PAGE = 500

/**
 * The verified state; null if the workspace and the token are plain, which their ids say.
 *
 * @throws Refusal
 */
export async function verifyDelivery(
  answer: SealedAnswer,
  bearer: Bearer,
  { more, seen, asked = {}, now }: Options,
): Promise<Seen | null> {
  if (isSignedId(bearer.id) !== isSignedId(answer.workspace_id))
    throw new Refusal('workspace', undefined, 'the delivery')
  if (!isSignedId(bearer.id)) return null
  const { links = [], binding, grant } = answer
  if (!binding || !grant)
    throw new Refusal('form', 'it does not state who granted the token', 'the delivery')
  const chain = await readWholeChain(answer.workspace_id, links, more)
  await requireBinding(bearer, readFirstHash(chain), binding)
  if (seen) requireContinues(chain, seen)
  const publicKey = toBase64(tokenKeyPair(bearer.id, bearer.secret).publicKey)
  requireScope(await verifyGrant(chain, grant, { id: bearer.id, publicKey }, now), answer)
  for (const envelope of answer.envelopes) await requireEnvelope(chain, bearer.id, envelope)
  requireAsked(answer, asked)
  const { revision, root, headSeq } = await storedOf(chain, answer, seen)
  return { seq: chain.seq, head: chain.head, revision, root, headSeq }
}

/** A token may be granted several environments, and no server chooses among them. */
function requireAsked(
  answer: SealedAnswer,
  {
    project_id = answer.project_id,
    environment = answer.environment,
  }: NonNullable<Options['asked']>,
): void {
  const isAsked = project_id === answer.project_id && environment === answer.environment
  if (!isAsked) throw new Refusal('mismatch', 'it does not match the request', 'the delivery')
}

async function readWholeChain(
  workspaceId: string,
  first: readonly SignedText[],
  more: Options['more'],
): Promise<Chain> {
  let chain = await replay(workspaceId, first)
  for (let { length } = first; length === PAGE; ) {
    const links = await more(chain.seq)
    chain = await extend(chain, links)
    length = links.length
  }
  return chain
}

function requireScope(grant: TokenGrant, answer: SealedAnswer): void {
  const isGranted =
    grant.capabilities.some((capability) => capability === 'read') &&
    (grant.project_id ?? answer.project_id) === answer.project_id &&
    (grant.environment ?? answer.environment) === answer.environment
  if (!isGranted) throw new Refusal('mismatch', undefined, 'the grant')
}

function requireEnvelope(
  chain: Chain,
  tokenId: string,
  {
    statement = '',
    signature = '',
    project_id,
    environment,
    epoch,
    envelope,
  }: SealedAnswer['envelopes'][number],
) {
  const entry = { tokenId, projectId: project_id, environment, epoch }
  const raw = fromBase64(envelope) ?? new Uint8Array()
  return verifyEnvelope(chain, { statement, signature }, { ...entry, envelope: raw })
}

/** The hashes of all rows: delivered ones, and those that are not delivered. */
async function storedOf(
  chain: Chain,
  { project_id: projectId, environment, sealed, value_sha256 = {}, manifest }: SealedAnswer,
  { revision = 0, root = '', headSeq }: Partial<KnownManifest> = {},
): Promise<StoredRows> {
  const seen = revision > 0 ? { revision, root, headSeq } : undefined
  const place: Place = { projectId, environment }
  const delivered = Object.entries(sealed).map(([key, { value }]) => ({ key, value }))
  const left = Object.entries(value_sha256).map(([key, hash]) => ({ key, value_sha256: hash }))
  const rows = await manifestRows([...delivered, ...left])
  return verifyStored(chain, { ...place, seen }, rows, manifest)
}
