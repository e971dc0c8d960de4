/** The permission matrix as data (protocol 10). */

import type { Role } from './grant.ts'
import type { Permission } from './http/endpoint.ts'

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
  'audit.read': everyone,
  'audit.export': admins,
}

export function permits(role: Role, permission: Permission): boolean {
  return matrix[permission].includes(role)
}
