/**
 * Operations on the tokens of a holder. A token of another holder is not found, and all changes
 * are made under the workspace's lock.
 */
import { toBase64 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import type { Grant } from '../../core/grant.ts'
import { UNLIMITED } from '../../core/token_limits.ts'
import type { InputOf } from '../../http/endpoint.ts'
import { type Change, toTokenResource } from '../../http/recorder.ts'
import type { Changing } from '../../http/route.ts'
import { isSignedId, type SignedText } from '../../sigchain/index.ts'
import { acceptLink, type Claim, chainOf, type SignedServices } from '../links/index.ts'
import { grantAgain, requireSigned } from '../statements/index.ts'
import type { grantAgentToken } from './contract.ts'
import { deleteEnvelope, selectProvisions } from './envelope_queries.ts'
import { storeEnvelopes } from './provision.ts'
import type { Provision, TokenEnvelope } from './shapes.ts'
import { type Holder, revokeTokens, selectToken, type TokenListRow } from './token_queries.ts'

type Manage = Grant<'agent.manage'>

/** A holder under the lock of its workspace. The epoch stays current until the end. */
export type LockedHolder = { holder: Holder; epoch: number }

export function presentToken(
  {
    publicKey,
    capabilities,
    hosts,
    secrets,
    limits,
    spent,
    grant,
    signature,
    ...row
  }: TokenListRow,
  workspaceId: string,
) {
  return {
    ...row,
    hosts: hosts && [...hosts],
    secrets: secrets && [...secrets],
    limits: limits && { ...UNLIMITED, ...limits },
    ...(spent && { spent }),
    ...(isSignedId(workspaceId) && { grant: signedOf(grant, signature) }),
    capabilities: [...capabilities],
    public_key: toBase64(publicKey),
  }
}

function signedOf(statement: string | null, signature: Uint8Array | null): SignedText | null {
  return statement === null || signature === null
    ? null
    : { statement, signature: toBase64(signature) }
}

/**
 * A token that is revoked already stays as it is. The link is optional, because revocation is always allowed. Only a
 * link makes it permanent beyond the database.
 *
 * @throws Fault `not_found`, and what `acceptLink` throws
 */
export async function revokeToken(
  changing: Changing<Manage>,
  services: SignedServices,
  { holder }: LockedHolder,
  { id, link }: { id: string; link: SignedText | undefined },
): Promise<undefined> {
  const { tx, grant, audit } = changing
  const [revoked] = await revokeTokens(tx, grant, holder, id)
  const token = revoked ?? (await selectToken(tx, grant, holder, id))
  if (!token) throw new Fault('not_found')
  if (link) {
    const claim: Claim = { type: 'tokens.revoked', body: { token_ids: [id] } }
    await acceptLink(changing, await chainOf(changing, services), link, claim)
  }
  if (revoked ?? link) audit.record(...revocations([token], holder))
  else audit.unchanged()
}

/**
 * Merges envelopes into what the token has, and returns all of that.
 *
 * @throws Fault `not_found`, `conflict` (the token lives no more), and what `provision` throws
 */
export async function provisionToken(
  changing: Changing<Manage>,
  services: SignedServices,
  { holder, epoch }: LockedHolder,
  { id, envelopes }: { id: string; envelopes: readonly TokenEnvelope[] },
): Promise<Provision[]> {
  const { tx, grant } = changing
  const token = await selectActive(changing, holder, id)
  const chain = await chainOf(changing, services)
  await storeEnvelopes(changing, services, token, { list: envelopes, path: '', epoch, chain })
  return selectProvisions(tx, grant, id)
}

type Granting = InputOf<typeof grantAgentToken, 'body'> & { id: string }

/**
 * Like above, with the token's grant, its first one or the same signed again, and its binding. Returns the
 * envelopes that it has then.
 *
 * @throws Fault like `provisionToken`; `link_required`, `link_refused`
 */
export async function grantToken(
  changing: Changing<Manage>,
  services: SignedServices,
  { holder, epoch }: LockedHolder,
  { id, grant: sent, binding, envelopes }: Granting,
): Promise<Provision[]> {
  const { tx, grant, audit } = changing
  const token = await selectActive(changing, holder, id)
  const { workspaceId, userId } = grant
  const signed = requireSigned(workspaceId, sent, 'grant')
  const chain = await chainOf(changing, services)
  if (!signed || !chain) throw new Fault('link_refused')
  const now = new Date(services.clock.now())
  const sender = { workspaceId, userId, chain, now }
  await grantAgain({ tx, sender }, token, { signed, binding, path: 'grant' })
  audit.record({
    action: 'token.granted',
    ...toTokenResource(token, holder.agent),
    projectId: token.projectId ?? undefined,
    environment: token.environment ?? undefined,
  })
  await storeEnvelopes(changing, services, token, {
    list: envelopes,
    path: 'envelopes.',
    epoch,
    chain,
  })
  return selectProvisions(tx, grant, id)
}

/** @throws Fault `not_found`, `conflict` */
async function selectActive({ tx, grant }: Changing<Manage>, holder: Holder, id: string) {
  const token = await selectToken(tx, grant, holder, id)
  if (!token) throw new Fault('not_found')
  if (!token.isActive) throw new Fault('conflict', { message: 'The token is revoked or expired.' })
  return { ...token, agent: holder.agent }
}

/** @throws Fault `not_found` when the token has no such envelope */
export async function unprovisionToken(
  { tx, grant, audit }: Changing<Manage>,
  { holder }: LockedHolder,
  { id, place }: { id: string; place: { project_id: string; environment: string } },
): Promise<undefined> {
  const [token, isDeleted] = await Promise.all([
    selectToken(tx, grant, holder, id),
    deleteEnvelope(tx, grant, id, place),
  ])
  if (!token || !isDeleted) throw new Fault('not_found')
  audit.record({
    action: 'token.grant_removed',
    ...toTokenResource(token, holder.agent),
    projectId: place.project_id,
    environment: place.environment,
  })
}

/** The recorded data of revoked tokens. */
export function revocations(
  revoked: readonly Awaited<ReturnType<typeof revokeTokens>>[number][],
  { agent }: Pick<Holder, 'agent'>,
): Change[] {
  return revoked.map((token) => ({
    action: 'token.revoked',
    ...toTokenResource(token, agent),
    projectId: token.projectId ?? undefined,
    environment: token.environment ?? undefined,
  }))
}
