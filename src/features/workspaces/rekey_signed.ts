/**
 * The parts of a rekey in a signed workspace besides its link: statements of the new envelopes, grants signed
 * again, and a manifest for each environment that has one. All of it is judged by the chain with that link,
 * before the transaction: it takes its time.
 */
import { eq } from 'drizzle-orm'
import { TimeSlice } from '../../core/async/time_slice.ts'
import type { Bytes } from '../../core/crypto/encoding.ts'
import { sha256 } from '../../core/crypto/primitives.ts'
import { Fault } from '../../core/fault.ts'
import type { Grant } from '../../core/grant.ts'
import type { Reading, Transaction } from '../../database/open.ts'
import { manifests, tokenGrants } from '../../database/schema/index.ts'
import { noteSigned, type SignedNote } from '../../database/signed_notes.ts'
import { type Chain, extend, Refusal, type SignedText } from '../../sigchain/index.ts'
import type { SignedServices } from '../links/index.ts'
import {
  acceptEnvelope,
  buildRefusedFault,
  judgeManifest,
  noteOf,
  requireSameGrant,
  storeGrant,
} from '../statements/index.ts'
import type { RekeyBody } from './contract.ts'
import { type Holdings, portions, type StoredSecret } from './rekey_checks.ts'

type Rekey = Grant<'workspace.update'>
type Place = { projectId: string; environment: string }

/** The value hashes of each environment, by name. */
export type Hashes = Map<string, Map<string, Bytes>>

/** The stored state, valid for the chain that ends in `head`. */
export type SignedRekey = {
  head: string
  grants: { tokenId: string; signed: SignedText; path: string }[]
  manifests: (Place & SignedText & { revision: number })[]
  notes: SignedNote[]
}

export function keepHash(hashes: Hashes, secret: StoredSecret, ciphertext: Uint8Array): Bytes {
  const place = environmentOf({ projectId: secret.project_id, environment: secret.environment })
  const hash = sha256(ciphertext)
  const rows = hashes.get(place) ?? new Map<string, Bytes>()
  hashes.set(place, rows.set(secret.key, hash))
  return hash
}

function environmentOf({ projectId, environment }: Place): string {
  return `${projectId} ${environment}`
}

/** `before` is the chain without the link, null in a plain workspace. */
type Judged = { before: Chain | null; held: Holdings; hashes: Hashes | null }

/**
 * Null in a plain workspace, and for a link that cannot be stored: why, is said when it is to be.
 *
 * @throws Fault `link_required`, `link_refused`, `conflict`
 */
export async function judgeSigned(
  { db, grant }: { db: Reading; grant: Rekey },
  services: SignedServices,
  { before, held, hashes }: Judged,
  body: RekeyBody,
): Promise<SignedRekey | null> {
  if (!before || !hashes) {
    requirePlain(body)
    return null
  }
  const chain = await withLink(before, body.link)
  if (!chain) return null
  const { workspaceId, userId } = grant
  const sender = { workspaceId, userId, chain, now: new Date(services.clock.now()) }
  const grants = await judgeTokens({ db, sender }, held, body)
  const revisions = await readRevisions(db, workspaceId, held)
  const sent: SignedRekey['manifests'] = []
  const notes: SignedNote[] = []
  const slice = new TimeSlice()
  for (const [index, signed] of (body.manifests ?? []).entries()) {
    const path = `manifests.${index}`
    const rowsOf = (place: Place) => hashes.get(environmentOf(place)) ?? new Map()
    const revisionOf = (place: Place) => revisions.get(environmentOf(place))
    const text = await judgeManifest(sender, { signed, path }, { revisionOf, rowsOf })
    const place = { projectId: text.project_id, environment: text.environment }
    if (!revisions.delete(environmentOf(place)))
      throw buildRefusedFault(path, 'its environment has no stored manifest')
    sent.push({ ...place, ...signed, revision: text.revision })
    notes.push(noteOf(workspaceId, text))
    if (slice.isSpent) await slice.waitForNextSlice()
  }
  const missing = [...revisions.keys()].slice(0, 100)
  if (missing.length > 0) {
    const fields = missing.map((place) => ({
      path: `manifests.${place.replace(' ', '.')}`,
      message: 'is missing',
    }))
    throw new Fault('link_required', { fields })
  }
  return { head: chain.head, grants, manifests: sent, notes }
}

function requirePlain({ manifests: sent = [], tokens }: RekeyBody): void {
  const isSigned =
    sent.length > 0 ||
    tokens.some(({ grant, envelopes }) => grant || envelopes.some((it) => it.statement))
  if (isSigned) throw buildRefusedFault('manifests', 'this workspace is not signed: omit it')
}

async function withLink(chain: Chain, link: SignedText | undefined): Promise<Chain | null> {
  if (!link) return null
  try {
    return await extend(chain, [link])
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

type Sender = Parameters<typeof requireSameGrant>[0]

async function judgeTokens(
  { db, sender }: { db: Reading; sender: Sender },
  held: Holdings,
  { epoch, tokens }: RekeyBody,
): Promise<SignedRekey['grants']> {
  const rows = await db
    .select({ tokenId: tokenGrants.tokenId, statement: tokenGrants.statement })
    .from(tokenGrants)
    .where(eq(tokenGrants.workspaceId, sender.workspaceId))
  const granted = new Map(rows.map(({ tokenId, statement }) => [tokenId, statement]))
  const grants: SignedRekey['grants'] = []
  const slice = new TimeSlice()
  for (const [index, { token_id: tokenId, envelopes, grant: signed }] of tokens.entries()) {
    const [token, before, path] = [
      held.tokens.get(tokenId),
      granted.get(tokenId),
      `tokens.${index}`,
    ]
    const isNamedOnly = envelopes.length === 0 && !signed
    if (isNamedOnly) continue
    if (!token || before === undefined)
      throw buildRefusedFault(path, 'it has no grant to carry over')
    if (signed) {
      const sent = { signed, path: `${path}.grant` }
      await requireSameGrant(sender, token, before, sent)
      grants.push({ tokenId, ...sent })
    }
    for (const [at, entry] of envelopes.entries()) {
      const place = { ...sender, tokenId }
      await acceptEnvelope(place, sender.chain, { ...entry, epoch }, `${path}.envelopes.${at}`)
      await slice.waitForNextSlice()
    }
  }
  return grants
}

/** The revisions of the manifests to follow; those of deleted projects go with them. */
async function readRevisions(db: Reading, workspaceId: string, { projectIds }: Holdings) {
  const rows = await db
    .select({
      projectId: manifests.projectId,
      environment: manifests.environment,
      revision: manifests.revision,
    })
    .from(manifests)
    .where(eq(manifests.workspaceId, workspaceId))
  return new Map(
    rows
      .filter(({ projectId }) => projectIds.has(projectId))
      .map(({ revision, ...place }) => [environmentOf(place), revision]),
  )
}

/** The other signed statements: live tokens' grants and all manifests. Statements about deleted things are dropped. */
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
      signature: Uint8Array.fromBase64(signature),
    }))
    await tx.insert(manifests).values(rows)
  }
}
