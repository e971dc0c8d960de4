/** Agents, their tokens, and the tokens of workloads (protocol 5.3). */
import { z } from 'zod'
import { pagination } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import {
  environment,
  projectId,
  registrationId,
  signedText,
  tokenId,
  workspaceId,
} from '../../http/fields.ts'
import { linkFaults, linkOnly } from '../links/contract.ts'
import {
  agent,
  binding,
  issuedToken,
  order,
  orderedToken,
  provisioned,
  registration,
  token,
  tokenEnvelopes,
  workloadOrder,
} from './shapes.ts'

/** For the contracts of what ends grants, and for who gives a token more than one call takes. */
export { keptGrants, MOST_TOKEN_ENVELOPES } from './shapes.ts'

const agentsPath = '/api/workspaces/{workspace_id}/agents/'
const agentPath = `${agentsPath}{registration_id}/` as const
const tokensPath = `${agentPath}tokens/` as const
const inWorkspace = {
  kind: 'member',
  permission: 'agent.manage',
  tenant: 'path.workspace_id',
} as const

const workspaceParams = z.object({ workspace_id: workspaceId })
const agentParams = workspaceParams.extend({ registration_id: registrationId })
const tokenParams = agentParams.extend({ token_id: tokenId })

const registered = issuedToken.extend({ agent }).meta({ id: 'RegisteredAgent' })
const envelopesBody = tokenEnvelopes.min(1)
const grantQuery = z.strictObject({ project_id: projectId, environment })

export const registerAgent = defineEndpoint({
  name: 'agents.register',
  summary: 'Create an agent for the whole workspace, with its first token',
  method: 'POST',
  path: agentsPath,
  quotas: ['agents', 'liveTokens', 'tokenEnvelopes', 'created'],
  access: inWorkspace,
  params: workspaceParams,
  body: registration,
  result: registered,
  success: 201,
  faults: ['already_exists', 'epoch_conflict', ...linkFaults],
})

export const listAgents = defineEndpoint({
  name: 'agents.list',
  summary: 'List the agents of a workspace and its projects',
  method: 'GET',
  path: agentsPath,
  access: inWorkspace,
  params: workspaceParams,
  query: pagination,
  result: z.array(agent),
  paged: true,
})

/** The endpoints for the agents of one project. */
const ofProject = {
  path: '/api/workspaces/{workspace_id}/projects/{project_id}/agents/',
  access: { ...inWorkspace, tenant: 'path.workspace_project' },
  params: workspaceParams.extend({ project_id: projectId }),
} as const

export const registerProjectAgent = defineEndpoint({
  ...registerAgent,
  ...ofProject,
  name: 'agents.register_in_project',
  summary: 'Create an agent for one project, with its first token',
})

export const listProjectAgents = defineEndpoint({
  ...listAgents,
  ...ofProject,
  name: 'agents.list_in_project',
  summary: 'List the agents of one project',
})

export const getAgent = defineEndpoint({
  name: 'agents.get',
  summary: 'Get an agent',
  method: 'GET',
  path: agentPath,
  access: inWorkspace,
  params: agentParams,
  result: agent,
})

export const deleteAgent = defineEndpoint({
  name: 'agents.delete',
  summary: 'Delete an agent and revoke all its tokens',
  method: 'DELETE',
  path: agentPath,
  access: inWorkspace,
  params: agentParams,
  body: linkOnly,
  bodyOptional: true,
  faults: linkFaults,
})

export const issueAgentToken = defineEndpoint({
  name: 'agents.tokens.issue',
  summary: 'Create another token for an agent',
  method: 'POST',
  path: tokensPath,
  quotas: ['liveTokens', 'tokenEnvelopes', 'created'],
  access: inWorkspace,
  params: agentParams,
  body: z.strictObject(order).meta({ id: 'TokenOrder' }),
  bodyOptional: true,
  result: orderedToken,
  success: 201,
  faults: ['already_exists', 'epoch_conflict', ...linkFaults],
})

export const listAgentTokens = defineEndpoint({
  name: 'agents.tokens.list',
  summary: 'List the tokens of an agent, oldest first',
  method: 'GET',
  path: tokensPath,
  access: inWorkspace,
  params: agentParams,
  query: pagination,
  result: z.array(token),
  paged: true,
})

export const revokeAgentToken = defineEndpoint({
  name: 'agents.tokens.revoke',
  summary: 'Revoke a token and delete its envelopes; idempotent',
  method: 'DELETE',
  path: `${tokensPath}{token_id}/`,
  access: inWorkspace,
  params: tokenParams,
  body: linkOnly,
  bodyOptional: true,
  faults: linkFaults,
})

export const provisionAgentToken = defineEndpoint({
  name: 'agents.tokens.provision',
  summary: 'Add or replace the environment keys of a token',
  method: 'PUT',
  path: `${tokensPath}{token_id}/envelopes/`,
  quotas: ['tokenEnvelopes'],
  access: inWorkspace,
  params: tokenParams,
  body: envelopesBody,
  result: provisioned,
  faults: ['epoch_conflict', ...linkFaults],
})

/** In signed workspaces only. */
export const grantAgentToken = defineEndpoint({
  ...provisionAgentToken,
  name: 'agents.tokens.grant',
  summary: 'Set or renew the signed grant of a token',
  path: `${tokensPath}{token_id}/grant/`,
  body: z
    .strictObject({ grant: signedText, binding, envelopes: tokenEnvelopes.default([]) })
    .meta({ id: 'SignedGrant' }),
})

export const unprovisionAgentToken = defineEndpoint({
  name: 'agents.tokens.unprovision',
  summary: 'Remove an environment key from a token',
  method: 'DELETE',
  path: `${tokensPath}{token_id}/envelopes/`,
  access: inWorkspace,
  params: tokenParams,
  query: grantQuery,
  faults: ['conflict'],
})

/** The tokens of a project's workloads are issued, listed and provisioned like those of an agent. */
const ofWorkloads = {
  path: '/api/projects/{project_id}/workload-tokens/',
  access: { ...inWorkspace, tenant: 'path.project_id' },
  params: z.object({ project_id: projectId }),
} as const
const ofWorkloadToken = {
  ...ofWorkloads,
  path: `${ofWorkloads.path}{token_id}/`,
  params: ofWorkloads.params.extend({ token_id: tokenId }),
} as const
const ofWorkloadEnvelopes = {
  ...ofWorkloadToken,
  path: `${ofWorkloadToken.path}envelopes/`,
} as const

const { bodyOptional: _, ...issueToken } = issueAgentToken

export const issueWorkloadToken = defineEndpoint({
  ...issueToken,
  ...ofWorkloads,
  name: 'workload_tokens.issue',
  summary: 'Create a workload token for one project and environment',
  body: workloadOrder,
})

export const listWorkloadTokens = defineEndpoint({
  ...listAgentTokens,
  ...ofWorkloads,
  name: 'workload_tokens.list',
  summary: 'List the workload tokens of a project, oldest first',
})

export const revokeWorkloadToken = defineEndpoint({
  ...revokeAgentToken,
  ...ofWorkloadToken,
  name: 'workload_tokens.revoke',
  summary: 'Revoke a workload token and delete its envelopes; idempotent',
})

export const provisionWorkloadToken = defineEndpoint({
  ...provisionAgentToken,
  ...ofWorkloadEnvelopes,
  name: 'workload_tokens.provision',
  summary: 'Add or replace the environment key of a workload token',
})

export const grantWorkloadToken = defineEndpoint({
  ...grantAgentToken,
  ...ofWorkloadToken,
  path: `${ofWorkloadToken.path}grant/`,
  name: 'workload_tokens.grant',
  summary: 'Set or renew the signed grant of a workload token',
})

export const unprovisionWorkloadToken = defineEndpoint({
  ...unprovisionAgentToken,
  ...ofWorkloadEnvelopes,
  name: 'workload_tokens.unprovision',
  summary: 'Remove the environment key from a workload token',
})
