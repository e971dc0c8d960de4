/**
 * The caller, and the proof of their permission. Only `identity/authorise` mints a `Grant`. Tenant queries take one, so
 * a query that writes secrets does not compile with a read grant.
 */
import { Fault } from './fault.ts'

export const permissions = [
  'workspace.read',
  'workspace.update',
  'workspace.delete',
  'member.manage',
  'allowlist.read',
  'allowlist.write',
  'project.read',
  'project.write',
  'project.delete',
  'secret.read',
  'secret.write',
  'agent.manage',
  'approval.read',
  'approval.decide',
  'notice.manage',
  'audit.read',
  'audit.export',
] as const
export type Permission = (typeof permissions)[number]

export const roles = ['owner', 'admin', 'member', 'read_only'] as const
export type Role = (typeof roles)[number]

/** A person with a live session. */
export type Caller = { userId: string; email: string; sessionId: string; isInstanceOwner: boolean }

declare const permitted: unique symbol

export type Grant<P extends Permission = Permission> = {
  readonly [permitted]: P
  readonly workspaceId: string
  readonly userId: string
  readonly email: string
  readonly role: Role
}

export type ProjectGrant<P extends Permission = Permission> = Grant<P> & {
  readonly projectId: string
  readonly projectName: string
}

/** The role of a member does not permit the action. The error has the member. */
export class RoleDenied extends Fault {
  readonly member: Omit<Grant, typeof permitted> & { projectId?: string }

  /** `refusal` is the fault of another rule than the matrix. */
  constructor(member: RoleDenied['member'], refusal?: Fault) {
    super('forbidden', { message: refusal?.message, fields: refusal?.fields, cause: refusal })
    this.member = member
  }
}

/** A tenant as the request names it, before anything is known about it. */
export type ResourceRef = {
  workspaceId?: string | undefined
  projectId?: string | undefined
  projectName?: string | undefined
  deletedProjectId?: string | undefined
}
