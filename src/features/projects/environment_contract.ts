/** The environments of a project, and which secrets are in which, by name (protocol 5.4). */
import { z } from 'zod'
import { environmentName, pagination } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { environment, projectId, text } from '../../http/fields.ts'
import { linkFaults } from '../links/contract.ts'
import { manifestOnly } from '../secrets/contract.ts'

const environmentsPath = '/api/projects/{project_id}/environments/'
const idParams = z.object({ project_id: projectId })

export const listEnvironments = defineEndpoint({
  name: 'projects.environments',
  summary: 'Count the secrets of each environment, up to 1,000 each',
  method: 'GET',
  path: environmentsPath,
  params: idParams,
  access: { kind: 'member', permission: 'project.read', tenant: 'path.project_id' },
  result: z.object({
    project_id: projectId,
    environments: z.record(
      environment,
      z.object({
        secret_count: z.number().int(),
        /** The environment holds more than `secret_count`, which is then 1,000. */
        has_more: z.literal(true).optional(),
      }),
    ),
  }),
})

export const createEnvironment = defineEndpoint({
  name: 'projects.environments.create',
  summary: 'Create an empty environment',
  method: 'POST',
  path: environmentsPath,
  params: idParams,
  quotas: ['environments'],
  access: { kind: 'member', permission: 'project.write', tenant: 'path.project_id' },
  body: z.strictObject({ name: environment }),
  result: z.object({ name: environment }),
  success: 201,
  faults: ['already_exists', 'conflict'],
})

export const deleteEnvironment = defineEndpoint({
  name: 'projects.environments.delete',
  summary: 'Delete an environment and its tokens; secrets can be restored for 7 days',
  method: 'DELETE',
  path: `${environmentsPath}{environment}/`,
  params: idParams.extend({ environment }),
  access: { kind: 'member', permission: 'project.delete', tenant: 'path.project_id' },
  /** In signed workspaces, where it held secrets: over nothing. */
  body: manifestOnly,
  bodyOptional: true,
  result: z.object({ secrets: z.number().int(), tokens: z.number().int() }),
  faults: ['epoch_conflict', ...linkFaults],
})

export const showCoverage = defineEndpoint({
  name: 'projects.coverage',
  summary: 'List secret names with the environments that have them',
  method: 'GET',
  path: '/api/projects/{project_id}/secrets/coverage/',
  params: idParams,
  query: pagination,
  paged: true,
  access: { kind: 'member', permission: 'secret.read', tenant: 'path.project_id' },
  result: z.object({
    project_id: projectId,
    environments: z.array(environment),
    keys: z.array(
      z.object({
        key: text('STRIPE_API_KEY'),
        environments: z.record(environment, z.boolean()),
        missing: z.array(environmentName.meta({ examples: ['staging'] })),
      }),
    ),
  }),
})

const earlier = environmentName.meta({ examples: ['development'] })

export const showDiff = defineEndpoint({
  name: 'projects.diff',
  summary: 'Compare the names of the secrets of two environments',
  method: 'GET',
  path: '/api/projects/{project_id}/secrets/diff/',
  params: idParams,
  query: pagination.extend({ from: earlier, to: environment }),
  paged: true,
  access: { kind: 'member', permission: 'secret.read', tenant: 'path.project_id' },
  result: z.object({
    from: earlier,
    to: environment,
    in_from_only: z.array(text('DEBUG_TOKEN')),
    in_to_only: z.array(text('STRIPE_API_KEY')),
    in_both: z.array(text('DATABASE_URL')),
  }),
})
