/** Items that need attention: tokens that expire soon, and credentials to connect again. */
import { z } from 'zod'
import { timestamp, wholeNumber } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { projectId, registrationId, text, tokenId, workspaceId } from '../../http/fields.ts'

const params = z.object({ workspace_id: workspaceId })

export const listExpiringTokens = defineEndpoint({
  name: 'attention.tokens',
  summary: 'List up to 100 tokens that expire soon',
  method: 'GET',
  path: '/api/workspaces/{workspace_id}/attention/tokens/',
  access: { kind: 'member', permission: 'agent.manage', tenant: 'path.workspace_id' },
  params,
  query: z.object({ days: wholeNumber(1, 90).default(7) }),
  result: z.array(
    z
      .object({
        id: tokenId,
        label: text('ci'),
        /** Null for the token of a workload. */
        agent_id: registrationId.nullable(),
        agent_name: text('deploy-bot').nullable(),
        project_id: projectId.nullable(),
        environment: text('production').nullable(),
        created_at: timestamp,
        expires_at: timestamp,
      })
      .meta({ id: 'ExpiringToken' }),
  ),
})

export const listLostCredentials = defineEndpoint({
  name: 'attention.credentials',
  summary: 'List up to 100 secrets with failed renewal',
  method: 'GET',
  path: '/api/workspaces/{workspace_id}/attention/credentials/',
  access: { kind: 'member', permission: 'secret.read', tenant: 'path.workspace_id' },
  params,
  result: z.array(
    z
      .object({
        project_id: projectId,
        environment: text('production'),
        key: text('GITHUB_OAUTH'),
        failed_at: timestamp.nullable(),
        failed_code: text('invalid_grant').nullable(),
      })
      .meta({ id: 'LostCredential' }),
  ),
})
