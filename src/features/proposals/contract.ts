/** Proposals: agents ask members to allow hosts or add secrets (protocol 14.4). A proposal itself changes nothing. */
import { z } from 'zod'
import { line, pagination, secretKey, timestamp } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import {
  allowedHost,
  proposalId,
  registrationId,
  text,
  tokenId,
  userId,
  workspaceId,
} from '../../http/fields.ts'

const proposalsPath = '/api/workspaces/{workspace_id}/proposals/'
const inWorkspace = { kind: 'member', tenant: 'path.workspace_id' } as const
const workspaceParams = z.object({ workspace_id: workspaceId })

export const proposalStatuses = ['open', 'accepted', 'rejected', 'expired'] as const
/** Hosts, and secrets, of one proposal. */
export const MAX_PROPOSED = 20
/** Characters of a reason, and of a description. */
const MAX_TEXT = 300
const BODY_LIMIT = 65_536

const status = z.enum(proposalStatuses).meta({ examples: ['open'] })
const reason = line(MAX_TEXT).meta({ examples: ['The deploy script posts to this API'] })
const proposedHost = allowedHost.refine(
  (host) => !host.startsWith('*'),
  'must be one host, without a wildcard',
)
const proposedSecret = z.strictObject({
  key: secretKey,
  description: line(MAX_TEXT)
    .nullish()
    .meta({ examples: ['A key that may create deploys'] }),
})

const proposalState = z
  .object({ id: proposalId, status, expires_at: timestamp })
  .meta({ id: 'ProposalState' })

export const createProposal = defineEndpoint({
  name: 'resolver.propose',
  summary: 'Propose allowed hosts or secrets to the members',
  method: 'POST',
  path: '/v1/proposals',
  access: { kind: 'token', capability: 'use', action: 'proposal.created' },
  bodyLimit: BODY_LIMIT,
  body: z
    .strictObject({
      reason,
      hosts: z.array(proposedHost).max(MAX_PROPOSED).default([]),
      secrets: z.array(proposedSecret).max(MAX_PROPOSED).default([]),
    })
    .refine(({ hosts, secrets }) => hosts.length + secrets.length > 0, {
      path: ['hosts'],
      message: 'and secrets must not both be empty',
    })
    .meta({ id: 'NewProposal' }),
  result: proposalState,
  success: 201,
  bare: true,
  faults: ['audit_unavailable'],
})

export const getOwnProposal = defineEndpoint({
  name: 'resolver.proposal',
  summary: 'Get the status of a proposal from this token',
  method: 'GET',
  path: '/v1/proposals/{proposal_id}',
  access: { kind: 'token', capability: 'use' },
  params: z.object({ proposal_id: proposalId }),
  result: proposalState,
  bare: true,
})

export const listProposals = defineEndpoint({
  name: 'proposals.list',
  summary: 'List agent proposals, newest first',
  method: 'GET',
  path: proposalsPath,
  access: { ...inWorkspace, permission: 'approval.read' },
  params: workspaceParams,
  query: pagination.extend({ status: status.optional() }),
  result: z.array(
    z
      .object({
        id: proposalId,
        status,
        token_id: tokenId,
        registration_id: registrationId.nullable(),
        agent: text('deploy-bot'),
        reason: text('The deploy script posts to this API'),
        hosts: z.array(text('api.stripe.com')),
        secrets: z.array(
          z.object({
            key: text('STRIPE_API_KEY'),
            description: text('A key that may create deploys').nullable(),
          }),
        ),
        created_at: timestamp,
        expires_at: timestamp,
        closed_by: userId.nullable(),
        closed_at: timestamp.nullable(),
      })
      .meta({ id: 'Proposal' }),
  ),
  paged: true,
})

export const closeProposal = defineEndpoint({
  name: 'proposals.close',
  summary: 'Close a proposal as accepted or rejected',
  method: 'POST',
  path: `${proposalsPath}{proposal_id}/close/`,
  access: { ...inWorkspace, permission: 'approval.decide' },
  params: workspaceParams.extend({ proposal_id: proposalId }),
  body: z
    .strictObject({ status: z.enum(['accepted', 'rejected']) })
    .meta({ id: 'ProposalClosing' }),
  faults: ['conflict'],
})
