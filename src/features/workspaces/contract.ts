import { z } from 'zod'
import { pagination, timestamp } from '../../core/validation/validate.ts'
import { defineEndpoint, type InputOf } from '../../http/endpoint.ts'
import { emptyBody, id, role, shownKeys, text, userId, workspaceId } from '../../http/fields.ts'
import { keptGrants } from '../agents/contract.ts'
import { link, linkFaults, linkOnly } from '../links/contract.ts'
import {
  encryptedWorkspaceKey,
  inviteBody,
  inviteResult,
  invites,
  rekeyBody,
  workspaceName,
  workspaceShape,
} from './shapes.ts'

/** For the contracts of those who invite to a workspace, make one or show it. */
export {
  encryptedWorkspaceKey,
  inviteBody,
  inviteStatuses,
  workspaceName,
  workspaceShape,
} from './shapes.ts'

/** A rekey carries the whole workspace. */
const REKEY_LIMIT = 32 * 1024 * 1024
/** With the grants of an administrator's tokens, signed again. */
const GRANTS_LIMIT = 4_194_304

const collection = '/api/workspaces/'
const path = '/api/workspaces/{workspace_id}/'
const members = `${path}members/` as const
const params = z.object({ workspace_id: workspaceId })

export const listWorkspacesEndpoint = defineEndpoint({
  name: 'workspaces.list',
  summary: 'List your workspaces and invitations',
  method: 'GET',
  path: collection,
  access: { kind: 'session' },
  query: pagination,
  result: z.array(workspaceShape),
  paged: true,
})

export const createWorkspaceEndpoint = defineEndpoint({
  name: 'workspaces.create',
  summary: 'Create a shared workspace, and invite its first members',
  method: 'POST',
  path: collection,
  quotas: ['workspaces', 'members', 'invitations', 'sentInvitations', 'created'],
  access: { kind: 'session' },
  body: z
    .strictObject({
      /** Chosen by the client, because the envelopes bind it. */
      id: id.optional(),
      name: workspaceName,
      encrypted_workspace_key: encryptedWorkspaceKey,
      invites: z.union([invites, z.array(z.never()).length(0)]).optional(),
      /** Signs the workspace. Its ID is then a UUID of version 8. */
      link,
    })
    .refine((body) => body.link === undefined || !body.invites?.length, {
      path: ['invites'],
      message: 'must be empty with a link: each invitation needs a separate link',
    }),
  result: workspaceShape.extend({ invites: z.array(inviteResult) }),
  success: 201,
  faults: ['already_exists', 'link_required', 'link_refused'],
})

export const getWorkspace = defineEndpoint({
  name: 'workspaces.get',
  summary: 'Get a workspace',
  method: 'GET',
  path,
  access: { kind: 'member', permission: 'workspace.read', tenant: 'path.workspace_id' },
  params,
  result: workspaceShape,
})

export const renameWorkspace = defineEndpoint({
  name: 'workspaces.rename',
  summary: 'Rename a workspace',
  method: 'PATCH',
  path,
  access: { kind: 'member', permission: 'workspace.update', tenant: 'path.workspace_id' },
  params,
  body: z.strictObject({ name: workspaceName }),
  result: workspaceShape,
})

export const deleteWorkspace = defineEndpoint({
  name: 'workspaces.delete',
  summary: 'Delete a shared workspace with everything in it',
  method: 'DELETE',
  path,
  access: { kind: 'member', permission: 'workspace.delete', tenant: 'path.workspace_id' },
  params,
  body: linkOnly,
  bodyOptional: true,
  faults: linkFaults,
})

export const acceptInvitation = defineEndpoint({
  name: 'workspaces.accept',
  summary: 'Accept an invitation',
  method: 'POST',
  path: `${path}accept/`,
  quotas: ['workspaces'],
  access: { kind: 'session' },
  params,
  body: emptyBody,
  bodyOptional: true,
  result: workspaceShape,
})

export const declineInvitation = defineEndpoint({
  name: 'workspaces.decline',
  summary: 'Decline an invitation',
  method: 'POST',
  path: `${path}decline/`,
  access: { kind: 'session' },
  params,
  body: linkOnly,
  bodyOptional: true,
  faults: [...linkFaults, 'last_owner'],
})

const memberShape = z
  .object({
    /** The ID of the membership. */
    id,
    user_id: userId,
    email: text('ada@example.com'),
    name: text('Ada Lovelace'),
    role,
    status: z.enum(['active', 'invited']),
    ...shownKeys,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Member' })

export const listMembers = defineEndpoint({
  name: 'members.list',
  summary: 'List the members and invitations of a workspace',
  method: 'GET',
  path: members,
  access: { kind: 'member', permission: 'workspace.read', tenant: 'path.workspace_id' },
  params,
  query: pagination,
  result: z.array(memberShape),
  paged: true,
})

export const inviteMembersEndpoint = defineEndpoint({
  name: 'members.invite',
  summary: 'Invite people with an account; returns 201 if at least one was invited',
  method: 'POST',
  path: members,
  quotas: ['members', 'invitations', 'sentInvitations'],
  access: { kind: 'member', permission: 'member.manage', tenant: 'path.workspace_id' },
  params,
  body: inviteBody,
  result: z.array(inviteResult),
  success: 'either',
  faults: ['epoch_conflict', ...linkFaults],
})

/** A user's id, or an e-mail address. */
const memberParams = params.extend({
  member: z
    .string()
    .max(254)
    .meta({ examples: ['ada@example.com'] }),
})

export const changeMemberRole = defineEndpoint({
  name: 'members.change_role',
  summary: 'Change the role of a member; to transfer ownership, make a member an owner',
  method: 'PATCH',
  path: `${members}{member}/`,
  access: { kind: 'member', permission: 'member.manage', tenant: 'path.workspace_id' },
  params: memberParams,
  body: z.strictObject({ role, link, grants: keptGrants }),
  bodyLimit: GRANTS_LIMIT,
  result: memberShape,
  faults: ['last_owner', 'epoch_conflict', ...linkFaults],
})

/** All members may leave; who may remove others is decided by `sigchain/member_rules`. */
export const removeMember = defineEndpoint({
  name: 'members.remove',
  summary: 'Remove a member, withdraw an invitation, or leave; requires a rekey afterwards',
  method: 'DELETE',
  path: `${members}{member}/`,
  access: { kind: 'member', permission: 'workspace.read', tenant: 'path.workspace_id' },
  params: memberParams,
  body: z.strictObject({ link, grants: keptGrants }),
  bodyLimit: GRANTS_LIMIT,
  bodyOptional: true,
  faults: ['last_owner', 'epoch_conflict', ...linkFaults],
})

export const rekeyWorkspace = defineEndpoint({
  name: 'workspaces.rekey',
  summary: 'Replace the workspace key and all envelopes and secrets in one step',
  method: 'POST',
  path: `${path}rekey/`,
  access: { kind: 'member', permission: 'workspace.update', tenant: 'path.workspace_id' },
  params,
  body: rekeyBody,
  bodyLimit: REKEY_LIMIT,
  result: workspaceShape,
  faults: ['epoch_conflict', ...linkFaults],
})

export type RekeyBody = InputOf<typeof rekeyWorkspace, 'body'>
