/** Refuses a change of a member that the caller's role does not permit (protocol 10). */
import { type Grant, roles } from '../../core/grant.ts'
import { roleRefusal } from '../../core/roles.ts'
import { type MemberChange, mayChangeMember } from '../../sigchain/index.ts'

/** @throws Fault `forbidden` that names the roles that may */
export function requireMayChange({ role }: Grant, change: MemberChange): void {
  if (mayChangeMember(role, change)) return
  throw roleRefusal(
    roles.filter((other) => mayChangeMember(other, change)),
    role,
  )
}
