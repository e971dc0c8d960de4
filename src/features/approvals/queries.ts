/** The rows of approvals. Every statement names the workspace. */
import { and, desc, eq, isNotNull, lt, or, type SQL, sql } from 'drizzle-orm'
import { toBase64 } from '../../core/crypto/encoding.ts'
import type { Grant } from '../../core/grant.ts'
import type { Reading, Transaction } from '../../database/open.ts'
import { approvals } from '../../database/schema/index.ts'
import type { Page } from '../../http/page.ts'
import type { TextOf } from '../../sigchain/index.ts'
import type { approvalStatuses } from './contract.ts'

type Status = (typeof approvalStatuses)[number]
type Read = Grant<'approval.read' | 'approval.decide'>
export type DecideGrant = Grant<'approval.decide'>

/** By the database's clock. A status may have expired before the row is updated. */
const statusNow = sql<Status>`case when ${approvals.status} in ('pending', 'released')
  and ${approvals.expiresAt} <= now() then 'expired' else ${approvals.status} end`

const shown = {
  id: approvals.id,
  status: statusNow,
  token_id: approvals.tokenId,
  registration_id: approvals.registrationId,
  agent: approvals.agent,
  digest: approvals.digest,
  host: approvals.host,
  method: approvals.method,
  secrets: approvals.secrets,
  body_bytes: approvals.bodyBytes,
  body_type: approvals.bodyType,
  requested_at: approvals.requestedAt,
  expires_at: approvals.expiresAt,
  decided_by: approvals.decidedBy,
  decided_at: approvals.decidedAt,
  muted_until: approvals.mutedUntil,
  scope: approvals.scope,
}

function buildInWorkspace({ workspaceId }: Read): SQL {
  return eq(approvals.workspaceId, workspaceId)
}

/** Newest first. */
export function selectApprovals(
  db: Reading,
  grant: Read,
  { after: [requestedAt, id], limit, status }: Page & { status: Status | undefined },
) {
  const before =
    requestedAt !== undefined && id !== undefined
      ? or(
          lt(approvals.requestedAt, new Date(requestedAt)),
          and(eq(approvals.requestedAt, new Date(requestedAt)), lt(approvals.id, id)),
        )
      : undefined
  return db
    .select(shown)
    .from(approvals)
    .where(and(buildInWorkspace(grant), status && sql`${statusNow} = ${status}`, before))
    .orderBy(desc(approvals.requestedAt), desc(approvals.id))
    .limit(limit + 1)
}

/** One, with what is sealed in it still under the outer layer. */
export async function selectApproval(db: Reading, grant: Read, id: string) {
  const [found] = await db
    .select({
      ...shown,
      sealedDetails: approvals.details,
      statement: approvals.statement,
      signed: approvals.signature,
    })
    .from(approvals)
    .where(and(buildInWorkspace(grant), eq(approvals.id, id)))
  if (!found) return null
  const { signed, ...row } = found
  return { ...row, signature: signed && toBase64(signed) }
}

export type ReleaseRow = {
  statement: string
  signature: Uint8Array
  scope: TextOf<'release'>['scope']
  /** Under the outer layer. */
  envelopes: Uint8Array
  expiresAt: Date
}

/** Whether the request was still pending. */
export async function storeRelease(
  tx: Transaction,
  grant: DecideGrant,
  id: string,
  release: ReleaseRow,
): Promise<boolean> {
  const stored = await tx
    .update(approvals)
    .set({ ...release, status: 'released', ...buildDecider(grant) })
    .where(and(buildInWorkspace(grant), eq(approvals.id, id), sql`${statusNow} = 'pending'`))
    .returning({ id: approvals.id })
  return stored.length > 0
}

/** Seconds for which a denial holds at least. */
const DENIAL_S = 3_600

/** The change by a decision: the stored status before and after. */
const decisions = {
  denied: 'pending',
  revoked: 'released',
} as const

/** Whether the decision changed something. A mute lasts at least as long as a denial. */
export async function storeDecision(
  tx: Transaction,
  grant: DecideGrant,
  id: string,
  { status, muteSeconds }: { status: keyof typeof decisions; muteSeconds: number | undefined },
): Promise<boolean> {
  const stored = await tx
    .update(approvals)
    .set({ status, ...buildDecider(grant), mutedUntil: computeMuteEnd(muteSeconds) })
    .where(
      and(buildInWorkspace(grant), eq(approvals.id, id), eq(approvals.status, decisions[status])),
    )
    .returning({ id: approvals.id })
  return stored.length > 0
}

function buildDecider({ userId }: DecideGrant) {
  return { decidedBy: userId, decidedAt: sql`now()` }
}

function computeMuteEnd(seconds: number | undefined) {
  return seconds ? sql`now() + ${Math.max(seconds, DENIAL_S)} * interval '1 second'` : null
}

/** Bytes of envelopes of a token that are kept, for a day after their releases ended. */
export async function envelopeBytes(
  tx: Transaction,
  { workspaceId }: DecideGrant,
  tokenId: string,
) {
  const [found] = await tx
    .select({ bytes: sql<number>`coalesce(sum(octet_length(${approvals.envelopes})), 0)::float8` })
    .from(approvals)
    .where(
      and(
        eq(approvals.workspaceId, workspaceId),
        eq(approvals.tokenId, tokenId),
        isNotNull(approvals.envelopes),
      ),
    )
  return found?.bytes ?? 0
}

/** A token's request. */
export async function selectOwn(
  db: Reading,
  { workspaceId, tokenId, id }: { workspaceId: string; tokenId: string; id: string },
) {
  const [found] = await db
    .select({ id: approvals.id, status: statusNow, expires_at: approvals.expiresAt })
    .from(approvals)
    .where(
      and(
        eq(approvals.workspaceId, workspaceId),
        eq(approvals.tokenId, tokenId),
        eq(approvals.id, id),
      ),
    )
  return found ?? null
}

/** Envelopes of ended releases guard answers of their token. One that is released again is guarded by the new one. */
export async function dropEqualEnvelopes(
  tx: Transaction,
  { workspaceId }: DecideGrant,
  tokenId: string,
  { secrets }: { secrets: readonly object[] },
): Promise<void> {
  const values = JSON.stringify(secrets)
  await tx.execute(sql`
    update approvals set envelopes = null
    where workspace_id = ${workspaceId} and token_id = ${tokenId} and envelopes is not null
      and (status <> 'released' or expires_at <= now())
      and not exists (select from jsonb_array_elements(statement::jsonb -> 'secrets') as old where not exists (
        select from jsonb_array_elements(${values}::text::jsonb) as new
        where new - 'envelope_sha256' = old - 'envelope_sha256'))`)
}
