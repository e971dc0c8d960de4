/** Member changes as links of a signed workspace. In a plain one they have no link. */

import type { Caller, Grant, Role } from '../../core/grant.ts'
import type { Changing } from '../../http/route.ts'
import { authorise } from '../../identity/authorise.ts'
import type { Chain } from '../../sigchain/index.ts'
import { endGrants, type KeptGrants, keepGrants } from '../agents/index.ts'
import type { Claim, SignedServices } from '../links/index.ts'
import { buildRefusedFault } from '../statements/index.ts'

/** Null for who is no member there. */
export function removalOf(chain: Chain | null, userId: string): Claim | null {
  if (!chain?.members.has(userId)) return null
  return { type: 'members.removed', body: { user_ids: [userId] } }
}

/** Null for who has that role there, or is no member. */
export function roleChangeOf(chain: Chain | null, userId: string, role: Role): Claim | null {
  const member = chain?.members.get(userId)
  if (member === undefined || member.role === role) return null
  return { type: 'members.put', body: { members: [{ ...member, role }] } }
}

type Acting = { grant: { workspaceId: string }; caller: Caller }

type Ending = {
  /** Without and with the link of the change. */
  before: Chain | null
  after: Chain | null
  userId: string
  kept: KeptGrants | undefined
  epoch: number
}

/**
 * Ends what somebody signed about tokens who is no administrator any more, or has new keys, but for what comes
 * signed again.
 *
 * @throws Fault `link_refused`, and what `keepGrants` throws
 */
export async function endSigned(
  { tx, grant, audit, caller }: Pick<Changing<Grant>, 'tx' | 'audit'> & Acting,
  services: SignedServices,
  { before, after, userId, kept = [], epoch }: Ending,
): Promise<void> {
  const key = adminKey(before, userId)
  if (!after || key === null || key === adminKey(after, userId)) {
    if (kept.length > 0) throw buildRefusedFault('grants', 'this change ends no grants')
    return
  }
  const { workspaceId } = grant
  audit.record(...(await endGrants(tx, { workspaceId, userId, kept })))
  if (kept.length === 0) return
  const managing = await authorise(tx, caller, 'agent.manage', { workspaceId })
  await keepGrants({ tx, grant: managing, audit }, services, { kept, chain: after, epoch })
}

/** Null for who is no administrator. */
function adminKey(chain: Chain | null, userId: string): string | null {
  const { role, signing_key } = chain?.members.get(userId) ?? {}
  return (role === 'owner' || role === 'admin') && signing_key ? signing_key : null
}
