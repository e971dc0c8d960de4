/**
 * Statements about tokens, envelopes and stored secrets. Each names the newest link that its signer knew, so it is
 * invalid on a truncated or forked chain.
 */
import canonicalize from 'canonicalize'
import { type Bytes, concat, lp, toBase64Url } from '../core/crypto/encoding.ts'
import { webSha256 } from '../core/crypto/web_primitives.ts'
import type { Role } from './fields.ts'
import { nameRefusalSubject, Refusal } from './refusal.ts'
import { readText, requireSignature, type SignedText } from './signed_text.ts'
import { type Chain, type Period, periodAt } from './state.ts'
import type { HeldRelease, Kind, TextOf, TokenGrant } from './texts.ts'

type StatementKind = Exclude<Kind, 'link'>
type Admitted<K extends StatementKind> = { text: TextOf<K>; headSeq: number }

const ADMINS: readonly Role[] = ['owner', 'admin']
const WRITERS: readonly Role[] = [...ADMINS, 'member']

/** Milliseconds after a grant's end by a process's clock until it is refused, whatever the database's clock shows. */
export const GRANT_GRACE_MS = 86_400_000

/**
 * Verifies a grant and returns a token's rights. Only the grant counts, not the stored row.
 *
 * @throws Refusal
 */
export function verifyGrant(
  chain: Chain,
  signed: SignedText,
  token: { id: string; publicKey?: string },
  now: Date,
): Promise<TokenGrant> {
  return nameRefusalSubject('the grant', async () => {
    const { text } = await readByHolder(chain, 'grant', signed, ADMINS)
    const isOfToken = (token.publicKey ?? text.public_key) === text.public_key
    if (text.token_id !== token.id || !isOfToken) throw new Refusal('mismatch')
    if (chain.revokedTokens.has(text.token_id)) throw new Refusal('revoked')
    const end = text.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(text.expires_at)
    if (+now >= end + GRANT_GRACE_MS) throw new Refusal('expired')
    return text
  })
}

/** Whether two grants are equal: after signing again, only `head` and `signer` may differ. */
export function isSameGrant(grant: TokenGrant, other: TokenGrant): boolean {
  const { head, signer } = other
  return canonicalize({ ...grant, head, signer }) === canonicalize(other)
}

/** A token's envelope: its place and its raw bytes. */
export type EnvelopeEntry = {
  tokenId: string
  projectId: string
  environment: string
  epoch: number
  /** Null if the signer did not see it: then only the place was granted. */
  envelope: Bytes | null
}

/** @throws Refusal for an envelope that no administrator sealed to this token, for this place and epoch */
export function verifyEnvelope(
  chain: Chain,
  signed: SignedText,
  entry: EnvelopeEntry,
): Promise<TextOf<'envelope'>> {
  return nameRefusalSubject('the envelope', async () => {
    const { text, headSeq } = await readByHolder(chain, 'envelope', signed, ADMINS)
    const isOfEntry =
      text.token_id === entry.tokenId &&
      isOfPlace(text, entry) &&
      text.epoch === entry.epoch &&
      (entry.envelope === null ||
        text.envelope_sha256 === toBase64Url(await webSha256(entry.envelope)))
    if (!isOfEntry) throw new Refusal('mismatch')
    requireEpoch(chain, text.epoch, headSeq)
    return text
  })
}

/**
 * Verifies a member's release. The caller compares it with the approval, the stored secrets and both clocks.
 *
 * @throws Refusal unless its signer has had a role that satisfies `by`, with one key, from `head` until now
 */
export function verifyRelease(
  chain: Chain,
  signed: SignedText,
  by: 'member' | 'admin',
): Promise<HeldRelease> {
  return nameRefusalSubject('the release', async () => {
    const roles = by === 'admin' ? ADMINS : WRITERS
    return (await readByHolder(chain, 'release', signed, roles)).text
  })
}

export type Rows = ReadonlyMap<string, Bytes>

/** A manifest's place, the rows that it must cover, and the newest manifest seen in that place. */
export type ManifestPlace = {
  projectId: string
  environment: string
  rows: Rows
  seen?: SeenManifest | undefined
}

/** `headSeq` is the number of the link that the manifest names. It is missing if an older client kept it. */
export type SeenManifest = { revision: number; root: string; headSeq?: number | undefined }

/** Bounds against exhausting the counter (2³¹ − 1). No workspace writes that often. */
const MAX_FIRST_REVISION = 2 ** 30
const MAX_REVISION_STEP = 2 ** 20

/**
 * Verifies the manifest over all stored secrets of a place: `rows` has names, and the SHA-256 of raw values.
 *
 * @throws Refusal unless a member who could write secrets stored exactly these rows
 */
export function verifyManifest(
  chain: Chain,
  signed: SignedText,
  place: ManifestPlace,
): Promise<TextOf<'manifest'> & { headSeq: number }> {
  return nameRefusalSubject('the manifest', async () => {
    const { text, headSeq } = readStatement(chain, 'manifest', signed)
    const period = periodAt(chain, text.signer, headSeq)
    if (period === null || period.role === null) throw new Refusal('signer')
    await requireSignature('manifest', signed, period.signingKey)
    if (period.role === 'read_only')
      throw new Refusal('right', 'read-only members cannot store secrets')
    if (!isOfPlace(text, place)) throw new Refusal('mismatch')
    requireEpoch(chain, text.epoch, headSeq)
    requireNewer({ ...text, headSeq }, place.seen)
    if (text.root !== (await manifestRoot(place.rows))) throw new Refusal('root')
    return { ...text, headSeq }
  })
}

/**
 * Requires that a manifest's signer can still write, with that key. Stored secrets remain valid when a member leaves,
 * but the member can no longer store any.
 *
 * @throws Refusal
 */
export function requireWriterNow(
  chain: Chain,
  { signer, headSeq }: { signer: string; headSeq: number },
): void {
  const now = chain.members.get(signer)
  const isSame = now?.signing_key === periodAt(chain, signer, headSeq)?.signingKey
  if (now && isSame && now.role !== 'read_only') return
  throw new Refusal('right', 'its signer can no longer write', 'the manifest')
}

/** The number of the link that a stored manifest names, even if the manifest is invalid. @throws Refusal */
export function headSeqOf(chain: Chain, statement: string): number | undefined {
  return chain.positions.get(readText('manifest', statement).head)
}

/** b64url SHA-256 of `lp(key) || SHA-256(raw value)` of all rows, in byte order of the keys. */
export async function manifestRoot(rows: Rows): Promise<string> {
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1))
  const parts = sorted.map(([name, valueHash]) => [lp(name), valueHash])
  return toBase64Url(await webSha256(concat(...parts.flat())))
}

/** A statement of this workspace, with the number of the link that it names. */
export function readStatement<K extends StatementKind>(
  chain: Chain,
  kind: K,
  { statement }: SignedText,
): Admitted<K> {
  const text = readText(kind, statement)
  if (text.workspace_id !== chain.workspaceId) throw new Refusal('workspace')
  if (chain.isDeleted) throw new Refusal('order', 'the workspace was deleted')
  const headSeq = chain.positions.get(text.head)
  if (headSeq === undefined) throw new Refusal('head')
  return { text, headSeq }
}

/** Reads a text by a member who has had one of the roles, with one key, without a break from `head` until now. */
async function readByHolder<K extends 'grant' | 'envelope' | 'release'>(
  chain: Chain,
  kind: K,
  signed: SignedText,
  roles: readonly Role[],
): Promise<Admitted<K>> {
  const { text, headSeq } = readStatement(chain, kind, signed)
  const signer = chain.members.get(text.signer)
  if (signer === undefined) throw new Refusal('signer')
  await requireSignature(kind, signed, signer.signing_key)
  const atHead = periodAt(chain, text.signer, headSeq)
  const later = (chain.history.get(text.signer) ?? []).filter(({ since }) => since > headSeq)
  const isUnbroken = [atHead, ...later].every(
    (period) => holds(period, roles) && period?.signingKey === signer.signing_key,
  )
  if (!isUnbroken) {
    const who = roles.includes('member') ? 'could not write' : 'was not an admin'
    throw new Refusal('right', `its signer ${who} at some time since signing`)
  }
  return { text, headSeq }
}

export function isAdmin(period: Period | null, signingKey: string): boolean {
  return holds(period, ADMINS) && period?.signingKey === signingKey
}

function holds(period: Period | null, roles: readonly Role[]): boolean {
  return period !== null && period.role !== null && roles.includes(period.role)
}

function isOfPlace(
  text: { project_id: string; environment: string },
  place: { projectId: string; environment: string },
): boolean {
  return text.project_id === place.projectId && text.environment === place.environment
}

/** Requires the current epoch, and a signature from after its beginning. */
function requireEpoch(chain: Chain, epoch: number, headSeq: number): void {
  if (epoch !== chain.epoch || headSeq < chain.epochSince) throw new Refusal('epoch')
}

function requireNewer(
  { revision, root, headSeq }: { revision: number; root: string; headSeq: number },
  seen: ManifestPlace['seen'],
): void {
  const most = seen === undefined ? MAX_FIRST_REVISION : seen.revision + MAX_REVISION_STEP
  if (revision > most) throw new Refusal('revision', 'the revision number is implausibly high')
  if (seen === undefined) return
  const isOther = revision === seen.revision && root !== seen.root
  if (revision < seen.revision || isOther) throw new Refusal('revision')
  if (headSeq < (seen.headSeq ?? 0))
    throw new Refusal('head', 'the previous one names a newer link')
}
