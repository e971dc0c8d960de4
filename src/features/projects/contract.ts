import { z } from 'zod'
import {
  email,
  line,
  pagination,
  projectName,
  timestamp,
  uuid,
} from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { id, projectId, role, text, workspaceId } from '../../http/fields.ts'
import { linkFaults } from '../links/contract.ts'
import { inviteBody, inviteStatuses } from '../workspaces/contract.ts'

/** The environments of a project, and which secrets are in which. */
export {
  createEnvironment,
  deleteEnvironment,
  listEnvironments,
  showCoverage,
  showDiff,
} from './environment_contract.ts'

const description = line(1000, 0).meta({ examples: ['Payments and invoices'] })

export const projectShape = z
  .object({
    id,
    name: text('billing'),
    description: text('Payments and invoices'),
    workspace_id: workspaceId,
    workspace_name: text('Platform'),
    role,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Project' })

const MAX_MEMBERS = 100

/** People of the workspace, or invitations to it: access to a project follows the workspace's roles. */
const projectInviteBody = z
  .union([
    z.strictObject({
      members: z
        .array(email)
        .min(1)
        .max(MAX_MEMBERS)
        .refine((emails) => new Set(emails).size === emails.length, 'names an address twice'),
    }),
    inviteBody,
  ])
  .meta({ id: 'ProjectInvites' })

const projectInviteResult = z.array(
  z
    .object({
      email: text('ada@example.com'),
      status: z.enum([...inviteStatuses, 'not_a_member']),
      /** The role of the person, or the role after accepting. */
      role: role.nullable(),
    })
    .meta({ id: 'ProjectInviteOutcome' }),
)

export const listProjects = defineEndpoint({
  name: 'projects.list',
  summary: 'List the projects of a workspace, or of all workspaces with workspace_id=all',
  method: 'GET',
  path: '/api/projects/',
  access: { kind: 'session' },
  query: pagination.extend({
    workspace_id: z
      .union([uuid, z.literal('all')])
      .optional()
      .meta({ examples: ['all'] }),
  }),
  result: z.array(projectShape),
  paged: true,
  faults: ['not_found'],
})

export const createProject = defineEndpoint({
  name: 'projects.create',
  summary: 'Create a project',
  method: 'POST',
  path: '/api/projects/',
  quotas: ['projects', 'created'],
  access: { kind: 'member', permission: 'project.write', tenant: 'active' },
  body: z.strictObject({
    name: projectName,
    description: description.optional(),
    workspace_id: workspaceId.optional(),
  }),
  result: projectShape,
  success: 201,
  faults: ['already_exists', 'conflict'],
})

const nameParams = z.object({ workspace_id: workspaceId, project_name: projectName })
const idParams = z.object({ project_id: projectId })

const byName = {
  path: '/api/projects/{workspace_id}/{project_name}/',
  params: nameParams,
} as const

/** The short form: a name in the active workspace, or an id. */
const byProject = {
  path: '/api/projects/{project}/',
  params: z.object({ project: z.union([uuid, projectName]).meta({ examples: ['billing'] }) }),
} as const

export const getProject = defineEndpoint({
  name: 'projects.get',
  summary: 'Get a project',
  method: 'GET',
  ...byName,
  access: { kind: 'member', permission: 'project.read', tenant: 'path.project_name' },
  result: projectShape,
})

export const getProjectShort = defineEndpoint({
  ...getProject,
  ...byProject,
  name: 'projects.get_short',
  summary: 'Get a project of the active workspace, by name or ID',
  access: { ...getProject.access, tenant: 'path.project' },
})

export const updateProject = defineEndpoint({
  name: 'projects.update',
  summary: 'Rename or describe a project',
  method: 'PATCH',
  ...byName,
  access: { kind: 'member', permission: 'project.write', tenant: 'path.project_name' },
  body: z
    .strictObject({ name: projectName.optional(), description: description.optional() })
    .meta({ id: 'ProjectUpdate' }),
  result: projectShape,
  faults: ['already_exists'],
})

export const updateProjectShort = defineEndpoint({
  ...updateProject,
  ...byProject,
  name: 'projects.update_short',
  summary: 'Rename or describe a project of the active workspace, by name or ID',
  access: { ...updateProject.access, tenant: 'path.project' },
})

export const deleteProject = defineEndpoint({
  name: 'projects.delete',
  summary: 'Delete a project with its secrets, and revoke its tokens',
  method: 'DELETE',
  ...byName,
  access: { kind: 'member', permission: 'project.delete', tenant: 'path.project_name' },
  faults: ['conflict'],
})

export const deleteProjectShort = defineEndpoint({
  ...deleteProject,
  ...byProject,
  name: 'projects.delete_short',
  summary: 'Delete a project of the active workspace, by name or ID',
  access: { ...deleteProject.access, tenant: 'path.project' },
})

export const inviteToProject = defineEndpoint({
  name: 'projects.invite',
  summary: 'Get member roles in a project, or invite people to its workspace',
  method: 'POST',
  path: '/api/projects/{project_id}/invite/',
  params: idParams,
  quotas: ['members', 'invitations', 'sentInvitations'],
  access: { kind: 'member', permission: 'member.manage', tenant: 'path.project_id' },
  body: projectInviteBody,
  result: projectInviteResult,
  success: 'either',
  faults: ['epoch_conflict', ...linkFaults],
})

export const inviteToProjectByName = defineEndpoint({
  ...inviteToProject,
  name: 'projects.invite_by_name',
  path: `${byName.path}invite/`,
  params: nameParams,
  access: { ...inviteToProject.access, tenant: 'path.project_name' },
})

export const restoreProject = defineEndpoint({
  name: 'projects.restore',
  summary:
    'Restore a project and its secrets within 7 days of deletion, unless the workspace was rekeyed',
  method: 'POST',
  path: '/api/projects/{project_id}/restore/',
  params: idParams,
  quotas: ['projects'],
  access: { kind: 'member', permission: 'project.delete', tenant: 'path.deleted_project_id' },
  result: projectShape,
  faults: ['already_exists', 'conflict'],
})
