import { z } from 'zod'
import { defineEndpoint } from '../kernel/endpoint.ts'
import { roles } from '../kernel/grant.ts'
import { isUuid, line, pagination, timestamp, uuid } from '../kernel/validate.ts'

/** Names that would shadow the paths below a project (docs/protocol.md, "Projects"). */
const RESERVED = new Set(['environments', 'secrets', 'invite', 'workload-tokens'])

export const projectName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{1,62}$/)
  .refine((name) => !RESERVED.has(name), 'is a reserved name')
  .refine((name) => !isUuid(name), 'must not have the form of an id')

const description = line(1000, 0)

export const projectShape = z.object({
  id: uuid,
  name: z.string(),
  description: z.string(),
  workspace_id: uuid,
  workspace_name: z.string(),
  role: z.enum(roles),
  created_at: timestamp,
  updated_at: timestamp,
})

export const listProjects = defineEndpoint({
  name: 'projects.list',
  summary: "List the projects of one workspace, or of all the caller's",
  method: 'GET',
  path: '/api/projects/',
  access: { kind: 'session' },
  query: pagination,
  result: z.array(projectShape),
  paged: true,
  faults: ['not_found'],
})

export const createProject = defineEndpoint({
  name: 'projects.create',
  summary: 'Create a project',
  method: 'POST',
  path: '/api/projects/',
  access: { kind: 'member', permission: 'project.write', tenant: 'active' },
  body: z.strictObject({
    name: projectName,
    description: description.optional(),
    workspace_id: uuid.optional(),
  }),
  result: projectShape,
  success: 201,
  faults: ['already_exists'],
})

const byName = {
  path: '/api/projects/{workspace_id}/{project_name}/',
  params: z.object({ workspace_id: uuid, project_name: projectName }),
} as const

/** The short form: a name in the active workspace, or an id. */
const byProject = {
  path: '/api/projects/{project}/',
  params: z.object({ project: z.union([uuid, projectName]) }),
} as const

const changes = z.strictObject({
  name: projectName.optional(),
  description: description.optional(),
})

export const getProject = defineEndpoint({
  name: 'projects.get',
  summary: 'Show a project',
  method: 'GET',
  ...byName,
  access: { kind: 'member', permission: 'project.read', tenant: 'path.project_name' },
  result: projectShape,
})

export const getProjectShort = defineEndpoint({
  name: 'projects.get_short',
  summary: 'Show a project of the active workspace, or by its id',
  method: 'GET',
  ...byProject,
  access: { kind: 'member', permission: 'project.read', tenant: 'path.project' },
  result: projectShape,
})

export const updateProject = defineEndpoint({
  name: 'projects.update',
  summary: 'Rename or describe a project',
  method: 'PATCH',
  ...byName,
  access: { kind: 'member', permission: 'project.write', tenant: 'path.project_name' },
  body: changes,
  result: projectShape,
  faults: ['already_exists'],
})

export const updateProjectShort = defineEndpoint({
  name: 'projects.update_short',
  summary: 'Rename or describe a project of the active workspace, or by its id',
  method: 'PATCH',
  ...byProject,
  access: { kind: 'member', permission: 'project.write', tenant: 'path.project' },
  body: changes,
  result: projectShape,
  faults: ['already_exists'],
})

export const deleteProject = defineEndpoint({
  name: 'projects.delete',
  summary: 'Delete a project with its secrets; its tokens are revoked',
  method: 'DELETE',
  ...byName,
  access: { kind: 'member', permission: 'project.delete', tenant: 'path.project_name' },
})

export const deleteProjectShort = defineEndpoint({
  name: 'projects.delete_short',
  summary: 'Delete a project of the active workspace, or by its id',
  method: 'DELETE',
  ...byProject,
  access: { kind: 'member', permission: 'project.delete', tenant: 'path.project' },
})
