/**
 * Rekey: after a member has left, what they could open must not open what is written from then on. A
 * client makes the new key and seals everything under it; here all of it is replaced in one
 * transaction, or nothing. Between two epochs there is no state in which some secrets are under the
 * old key and some under the new one.
 */
import { transactWhenRead } from '../../core/async/unread.ts'
import { Fault } from '../../core/fault.ts'
import type { Grant } from '../../core/grant.ts'
import { lockWorkspace } from '../../database/workspace_lock.ts'
import type { Change } from '../../http/recorder.ts'
import { type Changing, preparedRoute, type Route } from '../../http/route.ts'
import { acceptLink, type Claim, chainOf, type SignedServices } from '../links/index.ts'
import { type RekeyBody, rekeyWorkspace } from './contract.ts'
import { listWorkspaces } from './memberships.ts'
import { requireHeld } from './rekey_checks.ts'
import { type Holdings, readHolders, readVersions } from './rekey_holdings.ts'
import { type PreparedRekey, prepareRekey } from './rekey_prepare.ts'
import {
  advanceEpoch,
  dropDeleted,
  replaceEnvelopes,
  replaceGrants,
  replaceSecrets,
  replaceSigned,
} from './rekey_queries.ts'

export function rekeyRoutes(services: SignedServices): Route[] {
  return [
    preparedRoute(
      rekeyWorkspace,
      ({ db, grant, body }) => transactWhenRead(() => prepareRekey(db, services, grant, body)),
      ({ body, prepared, ...changing }) => rekey(changing, services, body, prepared),
    ),
  ]
}

async function rekey(
  changing: Changing<Grant<'workspace.update'>>,
  services: SignedServices,
  body: RekeyBody,
  early: PreparedRekey,
) {
  const { tx, grant, audit } = changing
  const { outer } = services
  const workspace = await lockWorkspace(tx, grant)
  if (body.epoch !== workspace.epoch + 1) throw new Fault('epoch_conflict')
  const { policyVersion } = await readVersions(tx, grant)
  // Where a secret was written in the meantime, all is done again under the lock.
  const isCurrent = early.policyVersion === policyVersion
  const prepared = isCurrent ? early : await prepareRekey(tx, services, grant, body)
  const chain = await chainOf(changing, services)
  const held = { ...(await readHolders(tx, grant, chain)), secrets: prepared.secrets }
  await requireHeld(held, body)
  const claim: Claim = { type: 'epoch.advanced', body: { epoch: body.epoch } }
  const after = await acceptLink(changing, chain, body.link, claim)
  // Judged by the chain with this link, or not at all.
  const { signed } = prepared
  if (after?.head !== signed?.head) throw new Fault('conflict')

  await replaceEnvelopes(tx, outer, grant, held, body)
  await replaceSecrets(tx, grant, prepared.sealed)
  await replaceGrants(tx, outer, grant, held, body, signed !== null)
  if (signed) await replaceSigned(tx, grant, held, signed)
  await dropDeleted(tx, grant)
  if (!(await advanceEpoch(tx, grant, body.epoch))) throw new Fault('epoch_conflict')

  const resource = { type: 'workspace', id: grant.workspaceId, name: workspace.name }
  audit.record({ action: 'workspace.rekeyed', resource }, ...lostGrants(held, body))
  const [shown] = await listWorkspaces(tx, outer, grant.userId, { workspaceId: grant.workspaceId })
  if (!shown) throw new Fault('not_found')
  return shown
}

/** Tokens that could open something before and can open nothing now. */
function lostGrants(held: Holdings, body: RekeyBody): Change[] {
  const kept = new Set(
    body.tokens.flatMap(({ token_id, envelopes }) => (envelopes.length > 0 ? [token_id] : [])),
  )
  return [...held.tokens.values()]
    .filter(({ id, live, provisioned }) => live && provisioned && !kept.has(id))
    .map(({ id, label }) => ({
      action: 'token.grant_removed',
      resource: { type: 'token', id, name: label },
    }))
}
