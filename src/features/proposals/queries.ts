/** The rows of proposals. Times go by the database's clock. */
import { and, desc, eq, lt, or, type SQL, sql } from 'drizzle-orm'
import { Fault } from '../../core/fault.ts'
import type { Grant } from '../../core/grant.ts'
import type { Database, Reading, Transaction } from '../../database/open.ts'
import { proposals } from '../../database/schema/index.ts'
import type { Page } from '../../http/page.ts'
import type { proposalStatuses } from './contract.ts'

type Status = (typeof proposalStatuses)[number]
type Read = Grant<'approval.read' | 'approval.decide'>

export type NewProposal = {
  workspaceId: string
  tokenId: string
  registrationId: string | null
  agent: string
  reason: string
  hosts: string[]
  secrets: { key: string; description: string | null }[]
  /** SHA-256 of hosts and names. Another reason does not make another proposal. */
  contentHash: Uint8Array
}

const MAX_OPEN = 20
const MAX_OPEN_IN_WORKSPACE = 200
/** First half of the key of the advisory lock; the second is a hash of the workspace. */
const LOCK = 6_021_032

const isOpen = sql`${proposals.status} = 'open' and ${proposals.expiresAt} > now()`
const inAWeek = sql`now() + interval '7 days'`

/** A status may have expired before the row is updated. */
const proposalStatusNow = sql<Status>`case when ${proposals.status} = 'open' and ${proposals.expiresAt} <= now()
  then 'expired' else ${proposals.status} end`

const state = { id: proposals.id, status: proposalStatusNow, expires_at: proposals.expiresAt }

/** A token's proposal. */
export async function selectOwnProposal(
  db: Reading,
  token: { workspaceId: string; tokenId: string },
  which: { id: string } | { contentHash: Uint8Array },
) {
  const isMeant =
    'id' in which ? eq(proposals.id, which.id) : eq(proposals.contentHash, which.contentHash)
  const [found] = await db
    .select(state)
    .from(proposals)
    .where(
      and(
        eq(proposals.workspaceId, token.workspaceId),
        eq(proposals.tokenId, token.tokenId),
        isMeant,
      ),
    )
  return found ?? null
}

/**
 * Stores a proposal, or opens an expired one again. Proposals of one workspace are counted one after the other.
 *
 * @throws Fault `rate_limited`
 */
export function insertProposal(db: Database, proposal: NewProposal) {
  return db.transaction(async (tx) => {
    const { workspaceId, tokenId, contentHash } = proposal
    await tx.execute(sql`select pg_advisory_xact_lock(${LOCK}::int, hashtext(${workspaceId}))`)
    const known = await selectOwnProposal(tx, proposal, { contentHash })
    if (known && known.status !== 'expired') return known
    await requireRoom(tx, workspaceId, tokenId)
    const times = { createdAt: sql`now()`, expiresAt: inAWeek }
    const [stored] = await tx
      .insert(proposals)
      .values({ id: Bun.randomUUIDv7(), ...proposal, ...times })
      .onConflictDoUpdate({
        target: [proposals.tokenId, proposals.contentHash],
        set: { reason: proposal.reason, secrets: proposal.secrets, ...times },
      })
      .returning({ id: proposals.id, expires_at: proposals.expiresAt })
    if (!stored) throw new Fault('unavailable')
    return { ...stored, status: 'open' as const }
  })
}

async function requireRoom(tx: Transaction, workspaceId: string, tokenId: string): Promise<void> {
  const inWorkspace = and(eq(proposals.workspaceId, workspaceId), isOpen)
  const all = await tx.$count(proposals, inWorkspace)
  const own = await tx.$count(proposals, and(inWorkspace, eq(proposals.tokenId, tokenId)))
  if (own >= MAX_OPEN) throw buildTooManyFault(`A token has at most ${MAX_OPEN} open proposals.`)
  if (all >= MAX_OPEN_IN_WORKSPACE)
    throw buildTooManyFault(`A workspace has at most ${MAX_OPEN_IN_WORKSPACE} open proposals.`)
}

function buildTooManyFault(sentence: string): Fault {
  return new Fault('rate_limited', {
    message: `${sentence} Wait until a member closes some.`,
    headers: { 'retry-after': '3600' },
  })
}

function buildInWorkspace({ workspaceId }: Read): SQL {
  return eq(proposals.workspaceId, workspaceId)
}

/** Newest first. */
export function selectProposals(
  db: Reading,
  grant: Read,
  { after: [createdAt, id], limit, status }: Page & { status: Status | undefined },
) {
  const before =
    createdAt !== undefined && id !== undefined
      ? or(
          lt(proposals.createdAt, new Date(createdAt)),
          and(eq(proposals.createdAt, new Date(createdAt)), lt(proposals.id, id)),
        )
      : undefined
  return db
    .select({
      ...state,
      token_id: proposals.tokenId,
      registration_id: proposals.registrationId,
      agent: proposals.agent,
      reason: proposals.reason,
      hosts: proposals.hosts,
      secrets: proposals.secrets,
      created_at: proposals.createdAt,
      closed_by: proposals.closedBy,
      closed_at: proposals.closedAt,
    })
    .from(proposals)
    .where(and(buildInWorkspace(grant), status && sql`${proposalStatusNow} = ${status}`, before))
    .orderBy(desc(proposals.createdAt), desc(proposals.id))
    .limit(limit + 1)
}

/** The status after it, and whether this changed it; null for a proposal of another workspace. */
export async function storeClosing(
  tx: Transaction,
  grant: Grant<'approval.decide'>,
  id: string,
  status: 'accepted' | 'rejected',
) {
  const isMeant = and(buildInWorkspace(grant), eq(proposals.id, id))
  const closed = await tx
    .update(proposals)
    .set({ status, closedBy: grant.userId, closedAt: sql`now()` })
    .where(and(isMeant, eq(proposals.status, 'open')))
    .returning({ id: proposals.id })
  const [found] = await tx
    .select({
      status: proposals.status,
      agent: proposals.agent,
      registrationId: proposals.registrationId,
    })
    .from(proposals)
    .where(isMeant)
  return found ? { ...found, isChanged: closed.length > 0 } : null
}
