/** What changes of members are in the chain of a signed workspace. In a plain one they are nothing there. */
import type { Role } from '../../platform/grant.ts'
import type { Chain } from '../../sigchain/index.ts'
import type { Claim } from '../links/index.ts'

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
