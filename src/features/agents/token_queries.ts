/** The tokens' rows and their envelopes. Every statement names the workspace and the holder. */
import { and, asc, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import type { Capability } from '../../core/capability.ts'
import type { Grant } from '../../core/grant.ts'
import { appearance } from '../../core/names/appearance.ts'
import type { TokenLimits, TokenSpending } from '../../core/token_limits.ts'
import type { Reading, Transaction } from '../../database/open.ts'
import {
  projects,
  tokenCalls,
  tokenDays,
  tokenEnvelopes,
  tokenGrants,
  tokens,
  tokenUses,
} from '../../database/schema/index.ts'
import type { Page } from '../../http/page.ts'
import { grantedColumns } from '../statements/index.ts'
import { isTokenActive, lastUsedAt } from './queries.ts'
import type { Provision } from './shapes.ts'

type Manage = Grant<'agent.manage'>

/** The holder of tokens: an agent, or a project with workload tokens. */
export type Holder =
  | { kind: 'agent'; agent: { id: string; name: string }; projectId: string | null }
  | { kind: 'workload'; agent: null; projectId: string }

/** The condition that finds a holder's tokens. */
type HolderId = { kind: 'agent'; agent: { id: string } } | { kind: 'workload'; projectId: string }

export type NewTokenRow = {
  id: string
  label: string
  environment: string | null
  capabilities: readonly Capability[]
  hosts: readonly string[] | null
  secrets: readonly string[] | null
  limits: TokenLimits | null
  expiresInDays: number | null
  /** Default: from now. */
  expiresAt?: Date | null
  verifier: Uint8Array
  publicKey: Uint8Array
}

/** The new row, or `null` when the id is taken, in any workspace. The expiry is of the database's clock. */
export async function insertToken(
  tx: Transaction,
  grant: Manage,
  holder: Holder,
  token: NewTokenRow,
) {
  const { expiresInDays: days } = token
  const fromNow = days === null ? null : sql`now() + ${days} * interval '24 hours'`
  const [inserted] = await tx
    .insert(tokens)
    .values({
      ...token,
      workspaceId: grant.workspaceId,
      kind: holder.kind,
      agentId: holder.agent?.id ?? null,
      projectId: holder.projectId,
      createdBy: grant.userId,
      expiresAt: token.expiresAt === undefined ? fromNow : token.expiresAt,
    })
    .onConflictDoNothing()
    .returning()
  return inserted ?? null
}

/** Whether a token of the holder works under a label that looks like that one. The workspace must be locked. */
export async function isLabelTaken(tx: Transaction, grant: Manage, holder: Holder, label: string) {
  const working = and(isOf(grant, holder), isTokenActive)
  const found = await tx.select({ label: tokens.label }).from(tokens).where(working)
  return found.some((taken) => appearance(taken.label) === appearance(label))
}

/** Envelopes of one page: with their statements they are by far most of its bytes. */
const MAX_PAGE_ENVELOPES = 2_000

/**
 * The tokens of a page, oldest first, each with what it is provisioned for. The page ends before the token whose
 * envelopes would be too many; it has at least one token.
 */
export async function selectTokens(
  tx: Reading,
  grant: Manage,
  holder: Holder,
  { after, limit }: Page,
) {
  const counted = await tx
    .select({
      id: tokens.id,
      envelopes: sql<number>`(select count(*)::int from ${tokenEnvelopes}
        where ${tokenEnvelopes.tokenId} = ${tokens.id})`,
    })
    .from(tokens)
    .where(and(isOf(grant, holder), after.length > 0 ? isAfter(after) : undefined))
    .orderBy(asc(tokens.createdAt), asc(tokens.id))
    .limit(limit + 1)
  const inPage: string[] = []
  let envelopes = 0
  for (const token of counted.slice(0, limit)) {
    envelopes += token.envelopes
    if (inPage.length > 0 && envelopes > MAX_PAGE_ENVELOPES) break
    inPage.push(token.id)
  }
  const rows = inPage.length > 0 ? await selectShown(tx, inPage) : []
  return { rows, hasMore: counted.length > inPage.length }
}

/** Null for a token without limits. */
const spentToday = sql<TokenSpending | null>`case when ${tokens.limits} is not null then (
  select json_build_object(
    'calls_today', coalesce(sum(${tokenDays.calls}), 0),
    'bytes_today', coalesce(sum(${tokenDays.bytes}), 0),
    'model_tokens_today', coalesce(sum(${tokenDays.modelTokens}), 0),
    'running', (select count(*) from ${tokenCalls}
      where ${tokenCalls.tokenId} = ${tokens.id} and ${tokenCalls.until} > now()))
  from ${tokenDays} where ${tokenDays.tokenId} = ${tokens.id}
    and ${tokenDays.day} = (now() at time zone 'utc')::date) end`

export type TokenListRow = Awaited<ReturnType<typeof selectShown>>[number]

function selectShown(tx: Reading, ids: readonly string[]) {
  const provisions = tx
    .select({
      list: sql<Provision[]>`coalesce(json_agg(json_strip_nulls(json_build_object(
          'project_id', ${tokenEnvelopes.projectId},
          'environment', ${tokenEnvelopes.environment},
          'epoch', ${tokenEnvelopes.epoch},
          'statement', ${tokenEnvelopes.statement},
          'signature', translate(encode(${tokenEnvelopes.signature}, 'base64'), E'\\n', '')
        )) order by ${tokenEnvelopes.projectId}, ${tokenEnvelopes.environment}), '[]')`.as('list'),
    })
    .from(tokenEnvelopes)
    .where(eq(tokenEnvelopes.tokenId, tokens.id))
    .as('provisions')
  return tx
    .select({
      id: tokens.id,
      label: tokens.label,
      environment: tokens.environment,
      capabilities: tokens.capabilities,
      hosts: tokens.hosts,
      secrets: tokens.secrets,
      limits: tokens.limits,
      spent: spentToday,
      status: sql<'active' | 'revoked' | 'expired'>`case
        when ${tokens.revokedAt} is not null then 'revoked'
        when ${isTokenActive} then 'active' else 'expired' end`,
      expires_in_days: tokens.expiresInDays,
      expires_at: tokens.expiresAt,
      revoked_at: tokens.revokedAt,
      last_used_at: lastUsedAt,
      created_at: tokens.createdAt,
      publicKey: tokens.publicKey,
      provisioned: provisions.list,
      grant: tokenGrants.statement,
      signature: tokenGrants.signature,
    })
    .from(tokens)
    .leftJoin(tokenGrants, eq(tokenGrants.tokenId, tokens.id))
    .leftJoin(tokenUses, eq(tokenUses.tokenId, tokens.id))
    .innerJoinLateral(provisions, sql`true`)
    .where(inArray(tokens.id, [...ids]))
    .orderBy(asc(tokens.createdAt), asc(tokens.id))
}

/** Clients choose ids, so the order of creation is the sort key and the id decides between equals. */
function isAfter([createdAt, id]: readonly string[]): SQL {
  return sql`(${tokens.createdAt}, ${tokens.id}) > (${createdAt}::timestamptz, ${id}::uuid)`
}

export async function selectToken(tx: Transaction, grant: Manage, holder: Holder, id: string) {
  const [found] = await tx
    .select({
      ...grantedColumns,
      isActive: sql<boolean>`${isTokenActive}`,
    })
    .from(tokens)
    .where(and(isOf(grant, holder), eq(tokens.id, id)))
  return found ?? null
}

/**
 * Revokes the tokens that are not revoked yet, all of the holder's or one, and returns them. Their envelopes go with
 * it: no token may decrypt them any more.
 */
export async function revokeTokens(tx: Transaction, grant: Manage, holder: HolderId, id?: string) {
  const which = and(
    isOf(grant, holder),
    isNull(tokens.revokedAt),
    id === undefined ? undefined : eq(tokens.id, id),
  )
  const ids = tx.select({ id: tokens.id }).from(tokens).where(which)
  const [, revoked] = await Promise.all([
    tx.delete(tokenEnvelopes).where(inArray(tokenEnvelopes.tokenId, ids)),
    tx.update(tokens).set({ revokedAt: sql`now()` }).where(which).returning({
      id: tokens.id,
      label: tokens.label,
      projectId: tokens.projectId,
      environment: tokens.environment,
    }),
  ])
  return revoked
}

/** The projects that belong to the workspace, locked against deletion until the end. */
export async function holdProjects(tx: Transaction, grant: Manage, ids: readonly string[]) {
  const found = await tx
    .select({ id: projects.id })
    .from(projects)
    .where(and(eq(projects.workspaceId, grant.workspaceId), inArray(projects.id, [...ids])))
    .for('key share')
  return new Set(found.map(({ id }) => id))
}

function isOf(grant: Manage, holder: HolderId): SQL | undefined {
  const held =
    holder.kind === 'agent'
      ? eq(tokens.agentId, holder.agent.id)
      : eq(tokens.projectId, holder.projectId)
  return and(eq(tokens.workspaceId, grant.workspaceId), eq(tokens.kind, holder.kind), held)
}
