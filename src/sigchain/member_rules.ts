/**
 * Rules for changes of memberships (protocol 10): the part of the matrix that depends on the affected member. An owner
 * may do all of it; another check keeps the last owner. The server uses these rules for a session's requests, and every
 * verifier for links.
 */
import type { Role } from './fields.ts'

export type MemberChange =
  /** `pending` is the role of an invitation that would be replaced. */
  | { kind: 'invite'; role: Role; pending: Role | null }
  | { kind: 'set_role'; from: Role; to: Role }
  /** Withdrawing an invitation is a removal; removing oneself is leaving. */
  | { kind: 'remove'; from: Role; self: boolean }

export function mayChangeMember(actor: Role, change: MemberChange): boolean {
  if (actor === 'owner') return true
  if (change.kind === 'remove' && change.self) return true
  if (actor !== 'admin') return false
  switch (change.kind) {
    case 'invite':
      return (
        mayGive(change.role) && (change.pending === null || mayMove(change.pending, change.role))
      )
    case 'set_role':
      return mayGive(change.to) && mayMove(change.from, change.to)
    case 'remove':
      return isBelowAdmins(change.from)
  }
}

/** Making somebody an owner is a transfer of ownership. */
function mayGive(role: Role): boolean {
  return role !== 'owner'
}

/** Only an owner demotes an admin; an admin may leave another one unchanged. */
function mayMove(from: Role, to: Role): boolean {
  return isBelowAdmins(from) || (from === 'admin' && to === 'admin')
}

function isBelowAdmins(role: Role): boolean {
  return role === 'member' || role === 'read_only'
}
