/**
 * The permissions of each role, for people. Permissions come from the matrix of protocol 10, which every contract names, and
 * changes of members from the rules that server and clients apply. `--help` and the documents print this table.
 */

import type { Permission } from '../core/grant.ts'
import { type Role, roles } from '../core/grant.ts'
import { permits, rolesThatWrite } from '../core/roles.ts'
import { type MemberChange, mayChangeMember } from '../sigchain/member_rules.ts'

export type RoleRow = { what: string; roles: readonly Role[] }

export const permissionTexts: Record<Permission, string> = {
  'workspace.read': 'see the workspace and its members',
  'allowlist.read': 'see the allowlist',
  'project.read': 'see projects and environments',
  'secret.read': 'read secrets and their versions',
  'approval.read': 'see requests for approval and proposals',
  'audit.read': 'read the audit log',
  'secret.write': 'set, delete, restore and roll back secrets',
  'approval.decide': 'approve, deny and revoke uses of held secrets, close proposals',
  'project.write': 'create and rename projects, create environments',
  'project.delete': 'delete and restore projects, delete environments',
  'agent.manage': 'manage agents and tokens',
  'notice.manage': 'manage notice targets',
  'allowlist.write': 'change the allowlist',
  'audit.export': 'export the audit log',
  'member.manage': 'invite people, give roles up to admin',
  'workspace.update': 'rename and rekey the workspace',
  'workspace.delete': 'delete the workspace',
}

const memberTexts: readonly (readonly [what: string, change: MemberChange])[] = [
  ['leave the workspace (not the last owner)', { kind: 'remove', from: 'read_only', self: true }],
  ['remove or demote a member', { kind: 'remove', from: 'member', self: false }],
  ['remove or demote an admin', { kind: 'remove', from: 'admin', self: false }],
  ['make someone an owner', { kind: 'set_role', from: 'admin', to: 'owner' }],
]

const heldText = 'change secrets whose uses an admin approves'
const heldByAdmin = { approval: { by: 'admin', ttl_seconds: 0 } }

/** From rights of all roles to rights of owners only. */
export function roleRows(): RoleRow[] {
  const permitted = Object.entries(permissionTexts) as [Permission, string][]
  return [
    ...permitted.map(([permission, what]) => ({
      what,
      roles: roles.filter((role) => permits(role, permission)),
    })),
    { what: heldText, roles: rolesThatWrite(heldByAdmin) },
    ...memberTexts.map(([what, change]) => ({
      what,
      roles: roles.filter((role) => mayChangeMember(role, change)),
    })),
  ].toSorted((one, other) => other.roles.length - one.roles.length)
}

/** At most 80 columns, without a line break at its end. */
export function roleHelp(): string {
  const width = Math.max(...roleRows().map(({ what }) => what.length))
  const line = (what: string, cells: readonly string[]) =>
    `  ${what.padEnd(width)}${cells.map((cell, at) => `  ${cell.padEnd(roles[at]?.length ?? 0)}`).join('')}`.trimEnd()
  const rows = roleRows().map((row) =>
    line(
      row.what,
      roles.map((role) => (row.roles.includes(role) ? 'yes' : '-')),
    ),
  )
  const leaving = 'Leave a workspace: cloakroom workspace remove YOUR_ADDRESS'
  return ['Roles:', line('', roles), ...rows, '', leaving].join('\n')
}

/** For Markdown, with a line break at its end. */
export function roleMarkdown(): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  const rows = roleRows().map((row) =>
    line([row.what, ...roles.map((role) => (row.roles.includes(role) ? '✓' : '–'))]),
  )
  return `${line(['action', ...roles])}|---${'|---'.repeat(roles.length)}|\n${rows.join('')}`
}
