/**
 * Tokens end when the administrator who granted them is removed, demoted, or gets new keys. The person who makes that change can
 * sign tokens again in the same call to keep them. A token that ends is revoked like any other: its row and its grant stay,
 * so that clients can prove from the chain why it ended.
 */
import { and, eq, inArray, isNull, notInArray, or, type SQLWrapper, sql } from 'drizzle-orm'
import { Fault } from '../../core/fault.ts'
import type { Grant } from '../../core/grant.ts'
import type { Transaction } from '../../database/open.ts'
import { agents, tokenEnvelopes, tokenGrants, tokens } from '../../database/schema/index.ts'
import { type Change, toTokenResource } from '../../http/recorder.ts'
import type { Changing } from '../../http/route.ts'
import type { Chain } from '../../sigchain/index.ts'
import type { SignedServices } from '../links/index.ts'
import { grantAgain } from '../statements/index.ts'
import { storeEnvelopes } from './provision.ts'
import { isTokenActive } from './queries.ts'
import type { KeptGrants } from './shapes.ts'

type Ending = { workspaceId: string; userId: string; kept: KeptGrants }

/**
 * Revokes the tokens that a person granted, except those that `kept` grants again (`keepGrants` follows), and deletes all
 * envelopes that the person signed. Returns the audit records.
 */
export async function endGrants(
  tx: Transaction,
  { workspaceId, userId, kept }: Ending,
): Promise<Change[]> {
  const grantedAgain = kept.flatMap(({ token_id, grant }) => (grant ? [token_id] : []))
  const granted = tx
    .select({ id: tokenGrants.tokenId })
    .from(tokenGrants)
    .where(
      and(
        eq(tokenGrants.workspaceId, workspaceId),
        sql`${tokenGrants.statement}::json ->> 'signer' = ${userId}`,
        grantedAgain.length > 0 ? notInArray(tokenGrants.tokenId, grantedAgain) : undefined,
      ),
    )
  const live = await selectTokens(tx, workspaceId, granted)
  const ended = await tx
    .update(tokens)
    .set({ revokedAt: sql`now()` })
    .where(
      and(
        eq(tokens.workspaceId, workspaceId),
        inArray(tokens.id, granted),
        isNull(tokens.revokedAt),
      ),
    )
    .returning({ id: tokens.id })
  const ids = ended.map(({ id }) => id)
  await tx
    .delete(tokenEnvelopes)
    .where(
      and(
        eq(tokenEnvelopes.workspaceId, workspaceId),
        or(
          sql`${tokenEnvelopes.statement}::json ->> 'signer' = ${userId}`,
          ids.length > 0 ? inArray(tokenEnvelopes.tokenId, ids) : undefined,
        ),
      ),
    )
  return live.map((token) => ({
    action: 'token.revoked',
    ...toTokenResource(token, token.agent),
    projectId: token.projectId ?? undefined,
    environment: token.environment ?? undefined,
  }))
}

type Keeping = { kept: KeptGrants; chain: Chain; epoch: number }

/**
 * Stores the renewed signatures, verified by the chain with the change's link. @throws Fault `not_found` (no live
 * token), `link_refused`, and the faults of `provision`
 */
export async function keepGrants(
  changing: Changing<Grant<'agent.manage'>>,
  services: SignedServices,
  { kept, chain, epoch }: Keeping,
): Promise<void> {
  const { tx, grant } = changing
  const { workspaceId, userId } = grant
  const ids = kept.map(({ token_id }) => token_id)
  const live = ids.length > 0 ? await selectTokens(tx, workspaceId, ids) : []
  const known = new Map(live.map((token) => [token.id, token]))
  const sender = { workspaceId, userId, chain, now: new Date(services.clock.now()) }
  for (const [index, { token_id, grant: signed, envelopes: list }] of kept.entries()) {
    const token = known.get(token_id)
    if (!token) throw new Fault('not_found')
    const path = `grants.${index}`
    if (signed) await grantAgain({ tx, sender }, token, { signed, path: `${path}.grant` })
    await storeEnvelopes(changing, services, token, {
      list,
      path: `${path}.envelopes.`,
      epoch,
      chain,
    })
  }
}

/** Live ones. */
async function selectTokens(tx: Transaction, workspaceId: string, ids: string[] | SQLWrapper) {
  const rows = await tx
    .select({ token: tokens, name: agents.name })
    .from(tokens)
    .leftJoin(agents, eq(agents.id, tokens.agentId))
    .where(and(eq(tokens.workspaceId, workspaceId), inArray(tokens.id, ids), isTokenActive))
  return rows.map(({ token, name }) => ({
    ...token,
    agent: token.agentId === null ? null : { id: token.agentId, name: name ?? '' },
  }))
}
