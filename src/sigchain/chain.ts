/**
 * The chain of a workspace: links that each name the previous one, replayed from the first. The resulting state
 * (members with keys and roles, allowlist, epoch, revoked tokens) is trusted for its signatures alone: the server that
 * stores the links need not be trusted. A chain that breaks any rule is refused completely.
 */
import { nameRefusalSubject, Refusal } from './refusal.ts'
import { applyLink } from './rules.ts'
import { hashOf, readText, requireSignature, type SignedText, signText } from './signed_text.ts'
import { type Chain, type ChainDraft, copyOf, emptyChain } from './state.ts'
import type { Link, Person } from './texts.ts'

/**
 * Verifies the chain of a workspace from its first link. @throws Refusal for the first invalid link, and `order` if it
 * is missing
 */
export async function replay(workspaceId: string, links: readonly SignedText[]): Promise<Chain> {
  if (links.length === 0) throw new Refusal('order', 'it is empty', 'the chain')
  return extend(emptyChain(workspaceId), links)
}

/** Extends a verified chain by links. The given chain is not changed. @throws Refusal */
export async function extend(chain: Chain, links: readonly SignedText[]): Promise<Chain> {
  const draft = copyOf(chain)
  for (const link of links)
    await nameRefusalSubject(`link ${draft.seq + 1}`, () => append(draft, link))
  return draft
}

async function append(draft: ChainDraft, signed: SignedText): Promise<void> {
  const link = readText('link', signed.statement)
  requireNext(draft, link)
  const signer = signerOf(draft, link)
  await requireSignature('link', signed, signer.signing_key)
  draft.seq = link.seq
  draft.size += signed.statement.length
  draft.head = await hashOf(signed.statement)
  draft.positions.set(draft.head, link.seq)
  applyLink(draft, link)
}

function requireNext(chain: Chain, link: Link): void {
  if (link.workspace_id !== chain.workspaceId) throw new Refusal('workspace')
  if (chain.isDeleted) throw new Refusal('order', 'the workspace was deleted')
  const isNext = link.seq === chain.seq + 1 && link.prev === (chain.seq === 0 ? null : chain.head)
  if (!isNext) throw new Refusal('order')
  if ((link.type === 'workspace.created') !== (link.seq === 1)) {
    throw new Refusal('order', 'only the first link can create the workspace')
  }
}

function signerOf(chain: Chain, link: Link): Person {
  const founder = link.type === 'workspace.created' ? link.body.founder : undefined
  const signer = founder ?? chain.members.get(link.signer)
  if (signer?.user_id !== link.signer) throw new Refusal('signer')
  return signer
}

/** @throws Refusal `order` for a chain without the link that was the newest when it was seen before */
export function requireContinues(
  { positions }: Chain,
  { seq, head }: Pick<Chain, 'seq' | 'head'>,
): void {
  if (positions.get(head) === seq) return
  const detail = 'links seen before are missing or replaced'
  throw new Refusal('order', detail, 'the chain')
}

/** Parses a link. Its contents are untrusted until it has been verified. @throws Refusal `form`, `key` */
export function readLink({ statement }: SignedText): Link {
  return readText('link', statement)
}

/** Returns the hash of the first link. It identifies the workspace, and tokens are bound to it. */
export function readFirstHash({ positions }: Chain): string {
  const [first = ''] = positions.keys()
  return first
}

/** A link's contents, without its position. */
export type LinkChange = Link extends infer Each
  ? Each extends Link
    ? Pick<Each, 'type' | 'body' | 'at' | 'signer'>
    : never
  : never

/** Signs the next link of a chain. @throws Refusal `form`, `key` */
export async function signLink(
  { workspaceId, seq, head }: Chain,
  change: LinkChange,
  privateKey: CryptoKey,
): Promise<SignedText> {
  const prev = seq === 0 ? null : head
  const place = { v: 2, workspace_id: workspaceId, seq: seq + 1, prev } as const
  return signText('link', { ...place, ...change }, privateKey)
}
