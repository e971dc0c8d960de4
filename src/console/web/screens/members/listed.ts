/** Members as the screen lists them, and what the person may do to each. */
import type { Role } from '../../../../core/grant.ts'
import { mayChangeMember } from '../../../../sigchain/member_rules.ts'
import type { Returned } from '../../keys/messages.ts'

export type MemberList = Returned<'members.list'>
export type ListedMember = MemberList['members'][number]

/** From the least to the most. */
export const ROLES: readonly Role[] = ['read_only', 'member', 'admin', 'owner']

export type Comparison = 'own' | 'yes' | 'no' | 'unusable'

export function comparisonOf(
  { isOwn, fingerprint }: ListedMember,
  isCompared: (fingerprint: string) => boolean,
): Comparison {
  if (fingerprint === null) return 'unusable'
  if (isOwn) return 'own'
  return isCompared(fingerprint) ? 'yes' : 'no'
}

export function listPossibleRoles({ role: from }: ListedMember, ownRole: Role): Role[] {
  return ROLES.filter(
    (to) => to !== from && mayChangeMember(ownRole, { kind: 'set_role', from, to }),
  )
}

/** The last owner stays. */
export function mayRemove(
  { role: from, isOwn, userId }: ListedMember,
  { ownRole, members }: MemberList,
): boolean {
  const isLastOwner =
    from === 'owner' &&
    !members.some(
      (other) => other.role === 'owner' && other.status === 'active' && other.userId !== userId,
    )
  return !isLastOwner && mayChangeMember(ownRole, { kind: 'remove', from, self: isOwn })
}

export function isManager(role: Role): boolean {
  return role === 'owner' || role === 'admin'
}

export type MemberRow = ListedMember & { comparison: Comparison }

export const KINDS = {
  all: () => true,
  invited: ({ status }: MemberRow) => status !== 'active',
  notCompared: ({ comparison }: MemberRow) => comparison === 'no' || comparison === 'unusable',
}
export type MemberKind = keyof typeof KINDS

export function matchesText({ email, name }: ListedMember, text: string): boolean {
  return `${email} ${name}`.toLowerCase().includes(text.trim().toLowerCase())
}
