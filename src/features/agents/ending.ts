/**
 * What somebody signed about tokens ends when they are removed, or no administrator any more. Who does it may
 * sign anew in the same call what is to stay. The rest is deleted, so that lists show what is.
 */
import { and, eq, inArray, notInArray, sql } from 'drizzle-orm'
import type { Transaction } from '../../platform/db/open.ts'
import { agents, tokenEnvelopes, tokenGrants, tokens } from '../../platform/db/schema/index.ts'
import { Fault } from '../../platform/fault.ts'
import type { Grant } from '../../platform/grant.ts'
import { aboutToken, type Change } from '../../platform/http/recorder.ts'
import type { Changing } from '../../platform/http/route.ts'
import type { Chain } from '../../sigchain/index.ts'
import type { SignedServices } from '../links/index.ts'
import { grantAgain } from '../statements/index.ts'
import { provision } from './provision.ts'
import { isActive } from './queries.ts'
import type { KeptGrants } from './shapes.ts'

type Ending = { workspaceId: string; userId: string; kept: KeptGrants }

/**
 * Ends what a person signed, but for grants that are signed anew (`keepGrants` follows). Returns what to record:
 * live tokens that can do nothing any more.
 */
export async function endGrants(
  tx: Transaction,
  { workspaceId, userId, kept }: Ending,
): Promise<Change[]> {
  const signedAnew = kept.flatMap(({ token_id, grant }) => (grant ? [token_id] : []))
  const ended = await tx
    .delete(tokenGrants)
    .where(
      and(
        eq(tokenGrants.workspaceId, workspaceId),
        sql`${tokenGrants.statement}::json ->> 'signer' = ${userId}`,
        signedAnew.length > 0 ? notInArray(tokenGrants.tokenId, signedAnew) : undefined,
      ),
    )
    .returning({ id: tokenGrants.tokenId })
  await tx
    .delete(tokenEnvelopes)
    .where(
      and(
        eq(tokenEnvelopes.workspaceId, workspaceId),
        sql`${tokenEnvelopes.statement}::json ->> 'signer' = ${userId}`,
      ),
    )
  if (ended.length === 0) return []
  const ids = ended.map(({ id }) => id)
  await tx.delete(tokenEnvelopes).where(inArray(tokenEnvelopes.tokenId, ids))
  const live = await selectTokens(tx, workspaceId, ids)
  return live.map((token) => ({
    action: 'token.grant_removed',
    ...aboutToken(token, token.agent),
    projectId: token.projectId ?? undefined,
    environment: token.environment ?? undefined,
  }))
}

type Keeping = { kept: KeptGrants; chain: Chain; epoch: number }

/**
 * Stores what is signed anew, by the chain with the link of the change.
 *
 * @throws Fault `not_found` (no token that lives), `link_refused`, and what `provision` throws
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
    await provision(changing, services, token, { list, path: `${path}.envelopes.`, epoch, chain })
  }
}

/** Those that live. */
async function selectTokens(tx: Transaction, workspaceId: string, ids: readonly string[]) {
  const rows = await tx
    .select({ token: tokens, name: agents.name })
    .from(tokens)
    .leftJoin(agents, eq(agents.id, tokens.agentId))
    .where(and(eq(tokens.workspaceId, workspaceId), inArray(tokens.id, [...ids]), isActive))
  return rows.map(({ token, name }) => ({
    ...token,
    agent: token.agentId === null ? null : { id: token.agentId, name: name ?? '' },
  }))
}
