/**
 * What can be done with the tokens of a holder. A token of another holder is not found, whoever asks,
 * and whatever changes does so under the workspace's lock and leaves a record.
 */
import { recordChanges } from '../../audit/changes.ts'
import { toBase64 } from '../../platform/crypto/encoding.ts'
import type { OuterLayer } from '../../platform/crypto/outer_layer.ts'
import type { Transaction } from '../../platform/db/open.ts'
import { Fault } from '../../platform/fault.ts'
import type { Grant } from '../../platform/grant.ts'
import type { Pager } from '../../platform/http/page.ts'
import { provision } from './provision.ts'
import type { Provision, TokenEnvelope } from './shapes.ts'
import {
  deleteEnvelope,
  type Holder,
  revokeTokens,
  selectProvisions,
  selectToken,
  selectTokens,
} from './token_queries.ts'

type Manage = Grant<'agent.manage'>

/** A holder under the lock of its workspace, whose epoch is the current one until the end. */
export type Held = { holder: Holder; epoch: number }

export async function listTokens(
  tx: Transaction,
  grant: Manage,
  pager: Pager,
  holder: Holder,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
) {
  const list = `tokens ${holder.kind === 'agent' ? holder.agentId : holder.projectId}`
  const rows = await selectTokens(tx, grant, holder, { after: pager.start(list, cursor), limit })
  return pager.cut(
    list,
    rows,
    limit,
    (row) => [row.created_at.toISOString(), row.id],
    ({ publicKey, ...row }) => ({ ...row, public_key: toBase64(publicKey) }),
  )
}

/** @throws Fault `not_found`; a token that is revoked already stays as it is */
export async function revokeToken(
  tx: Transaction,
  grant: Manage,
  { holder }: Held,
  id: string,
): Promise<undefined> {
  const revoked = await revokeTokens(tx, grant, holder, id)
  if (revoked.length === 0 && !(await selectToken(tx, grant, holder, id))) {
    throw new Fault('not_found')
  }
  await recordRevoked(tx, grant, revoked)
}

/**
 * Merges envelopes into what the token has, and answers all of that.
 *
 * @throws Fault `not_found`, `conflict` (the token lives no more), and what `provision` throws
 */
export async function provisionToken(
  tx: Transaction,
  grant: Manage,
  outer: OuterLayer,
  { holder, epoch }: Held,
  { id, envelopes }: { id: string; envelopes: readonly TokenEnvelope[] },
): Promise<Provision[]> {
  const token = await selectToken(tx, grant, holder, id)
  if (!token) throw new Fault('not_found')
  if (!token.isActive) throw new Fault('conflict', { message: 'The token is revoked or expired.' })
  await provision(tx, grant, outer, token, { list: envelopes, path: '', epoch })
  return selectProvisions(tx, grant, id)
}

/** @throws Fault `not_found` when the token has no such envelope */
export async function unprovisionToken(
  tx: Transaction,
  grant: Manage,
  { holder }: Held,
  { id, place }: { id: string; place: { project_id: string; environment: string } },
): Promise<undefined> {
  const token = await selectToken(tx, grant, holder, id)
  if (!token || !(await deleteEnvelope(tx, grant, id, place))) throw new Fault('not_found')
  await recordChanges(tx, grant, [
    {
      action: 'token.grant_removed',
      resource: { type: 'token', id, name: token.label },
      projectId: place.project_id,
      environment: place.environment,
    },
  ])
}

export function recordRevoked(
  tx: Transaction,
  grant: Manage,
  revoked: Awaited<ReturnType<typeof revokeTokens>>,
): Promise<void> {
  return recordChanges(
    tx,
    grant,
    revoked.map(({ id, label, projectId, environment }) => ({
      action: 'token.revoked' as const,
      resource: { type: 'token', id, name: label },
      projectId: projectId ?? undefined,
      environment: environment ?? undefined,
    })),
  )
}
