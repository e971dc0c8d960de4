import { z } from 'zod'
import { pagination, timestamp } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { allowedHost, id, text, workspaceId } from '../../http/fields.ts'
import { link, linkFaults, linkOnly } from '../links/contract.ts'

const path = '/api/workspaces/{workspace_id}/allowlist/'
const params = z.object({ workspace_id: workspaceId })

const entry = z
  .object({
    id,
    domain: text('api.stripe.com'),
    added_by_email: text('ada@example.com').nullable(),
    added_at: timestamp,
  })
  .meta({ id: 'AllowedDomain' })

export const listAllowlist = defineEndpoint({
  name: 'allowlist.list',
  summary: 'List the allowed hosts of a workspace',
  method: 'GET',
  path,
  access: { kind: 'member', permission: 'allowlist.read', tenant: 'path.workspace_id' },
  params,
  query: pagination,
  result: z.array(entry),
  paged: true,
})

export const addToAllowlist = defineEndpoint({
  name: 'allowlist.add',
  summary: 'Add allowed hosts; existing hosts stay unchanged',
  method: 'POST',
  path,
  quotas: ['hosts'],
  access: { kind: 'member', permission: 'allowlist.write', tenant: 'path.workspace_id' },
  params,
  body: z.union([
    z.strictObject({ domains: z.array(allowedHost).min(1).max(500), link }),
    z
      .strictObject({ domain: allowedHost, link })
      .transform((body) => ({ domains: [body.domain], link: body.link })),
  ]),
  result: z.array(entry),
  success: 'either',
  faults: linkFaults,
})

export const removeFromAllowlist = defineEndpoint({
  name: 'allowlist.remove',
  summary: 'Remove an allowed host',
  method: 'DELETE',
  path: `${path}{domain}/`,
  access: { kind: 'member', permission: 'allowlist.write', tenant: 'path.workspace_id' },
  params: params.extend({ domain: allowedHost }),
  body: linkOnly,
  bodyOptional: true,
  faults: linkFaults,
})

/** The host `log` is an entry like any other, but its path is that of the log. */
export const removeLogFromAllowlist = defineEndpoint({
  name: 'allowlist.remove_log',
  summary: 'Remove the allowed host named log',
  method: 'DELETE',
  path: `${path}log/`,
  access: { kind: 'member', permission: 'allowlist.write', tenant: 'path.workspace_id' },
  params,
  body: linkOnly,
  bodyOptional: true,
  faults: linkFaults,
})

export const listAllowlistLog = defineEndpoint({
  name: 'allowlist.log',
  summary: 'List changes of the allowed hosts, newest first',
  method: 'GET',
  path: `${path}log/`,
  access: { kind: 'member', permission: 'allowlist.read', tenant: 'path.workspace_id' },
  params,
  query: pagination,
  result: z.array(
    z
      .object({
        id,
        domain: text('api.stripe.com'),
        action: z.enum(['added', 'removed']),
        performed_by_email: text('ada@example.com').nullable(),
        performed_at: timestamp,
      })
      .meta({ id: 'AllowlistChange' }),
  ),
  paged: true,
})
