/** The permission matrix as data (protocol 10). */

import { Fault } from './fault.ts'
import type { Permission, Role } from './grant.ts'
import { readApprover } from './policy/policy.ts'

const everyone = ['owner', 'admin', 'member', 'read_only'] as const
const writers = ['owner', 'admin', 'member'] as const
const admins = ['owner', 'admin'] as const
const owners = ['owner'] as const

export const matrix: Record<Permission, readonly Role[]> = {
  'workspace.read': everyone,
  'workspace.update': admins,
  'workspace.delete': owners,
  'member.manage': admins,
  'allowlist.read': everyone,
  'allowlist.write': admins,
  'project.read': everyone,
  'project.write': writers,
  'project.delete': admins,
  'secret.read': everyone,
  'secret.write': writers,
  'agent.manage': admins,
  'approval.read': everyone,
  'approval.decide': writers,
  'notice.manage': admins,
  'audit.read': everyone,
  'audit.export': admins,
}

/** The required and the current role, as sentences. `where` is the name of the workspace, if known. */
export function roleSentences(needed: readonly string[], held: string, where?: string): string {
  const place = where === undefined ? '' : ` in ${where}`
  return `This needs the role ${alternatives(needed)}${place}. Yours is ${held}.`
}

/** `owner, admin or member` */
function alternatives(names: readonly string[]): string {
  const [last = '', ...others] = [...names].reverse()
  return others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`
}

export function roleRefusal(needed: readonly Role[], held: Role): Fault {
  return new Fault('forbidden', { message: roleSentences(needed, held) })
}

/** Returns the roles that may write a secret with this policy: owners and admins if uses need an admin's approval. */
export function rolesThatWrite(policy: unknown): readonly Role[] {
  return readApprover(policy) === 'admin' ? admins : writers
}

export function permits(role: Role, permission: Permission): boolean {
  return matrix[permission].includes(role)
}
