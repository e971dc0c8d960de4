/** How much secrets, agents and hosts were used lately. */
import { z } from 'zod'
import { timestamp, wholeNumber } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { projectId, registrationId, text, workspaceId } from '../../http/fields.ts'

const count = z.number().int()
const counts = z.array(count).meta({ examples: [[0, 3, 12, 0, 0, 7, 4]] })
const used = { calls: counts, blocked: counts, last_used_at: timestamp }

export const getUsage = defineEndpoint({
  name: 'audit.usage',
  summary: 'Count recent calls by secret, agent and host',
  method: 'GET',
  path: '/api/workspaces/{workspace_id}/usage/',
  access: { kind: 'member', permission: 'audit.read', tenant: 'path.workspace_id' },
  params: z.object({ workspace_id: workspaceId }),
  query: z.object({ days: wholeNumber(1, 30).default(7) }),
  result: z.object({
    /** The last 24 hours, oldest first. */
    hours: z.array(z.object({ at: timestamp, allowed: count, blocked: count, errors: count })),
    /** In UTC, oldest first and today last. `calls` and `blocked` have a number for each; `blocked` is part of `calls`. */
    days: z.array(z.iso.date()),
    secrets: z.array(
      z
        .object({
          project_id: projectId.nullable(),
          environment: text('production').nullable(),
          credential_ref: text('STRIPE_API_KEY'),
          ...used,
          last_used_by: text('deploy-bot'),
        })
        .meta({ id: 'SecretUse' }),
    ),
    agents: z.array(
      z
        .object({
          registration_id: registrationId.nullable(),
          agent_id: text('deploy-bot'),
          ...used,
        })
        .meta({ id: 'AgentUse' }),
    ),
    /** With the port where that is not 443. */
    hosts: z.array(z.object({ host: text('api.stripe.com'), ...used }).meta({ id: 'HostUse' })),
    /** False if there were more records or entries than are counted and listed: the newest are. */
    is_whole: z.boolean(),
  }),
})
