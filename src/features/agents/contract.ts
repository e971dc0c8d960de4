/** Agents, their tokens, and the tokens of workloads (docs/protocol.md, "Agents and tokens"). */
import { z } from 'zod'
import { defineEndpoint } from '../../platform/http/endpoint.ts'
import { environmentName, pagination, uuid } from '../../platform/http/validate.ts'
import {
  agent,
  agentName,
  issuedToken,
  order,
  orderedToken,
  provisioned,
  token,
  tokenEnvelopes,
  workloadOrder,
} from './shapes.ts'

const agentsPath = '/api/workspaces/{workspace_id}/agents/'
const agentPath = `${agentsPath}{registration_id}/` as const
const tokensPath = `${agentPath}tokens/` as const
const workloadPath = '/api/projects/{project_id}/workload-tokens/'

const inWorkspace = {
  kind: 'member',
  permission: 'agent.manage',
  tenant: 'path.workspace_id',
} as const
const inWorkspaceProject = { ...inWorkspace, tenant: 'path.workspace_project' } as const
const inProject = { ...inWorkspace, tenant: 'path.project_id' } as const

const workspaceParams = z.object({ workspace_id: uuid })
const projectParams = z.object({ project_id: uuid })
const agentParams = workspaceParams.extend({ registration_id: uuid })
const tokenParams = agentParams.extend({ token_id: uuid })
const workloadParams = projectParams.extend({ token_id: uuid })

const registration = z.strictObject({ name: agentName, ...order })
const registered = issuedToken.extend({ agent })
const envelopesBody = tokenEnvelopes.min(1)
const grantQuery = z.strictObject({ project_id: uuid, environment: environmentName })

export const registerAgent = defineEndpoint({
  name: 'agents.register',
  summary: 'Register an agent for the whole workspace, with its first token',
  method: 'POST',
  path: agentsPath,
  access: inWorkspace,
  params: workspaceParams,
  body: registration,
  result: registered,
  success: 201,
  faults: ['already_exists', 'epoch_conflict', 'conflict'],
})

export const listAgents = defineEndpoint({
  name: 'agents.list',
  summary: 'List the agents of the workspace and of its projects',
  method: 'GET',
  path: agentsPath,
  access: inWorkspace,
  params: workspaceParams,
  query: pagination,
  result: z.array(agent),
  paged: true,
})

export const registerProjectAgent = defineEndpoint({
  name: 'agents.register_in_project',
  summary: 'Register an agent for one project, with its first token',
  method: 'POST',
  path: '/api/workspaces/{workspace_id}/projects/{project_id}/agents/',
  access: inWorkspaceProject,
  params: workspaceParams.extend({ project_id: uuid }),
  body: registration,
  result: registered,
  success: 201,
  faults: ['already_exists', 'epoch_conflict', 'conflict'],
})

export const listProjectAgents = defineEndpoint({
  name: 'agents.list_in_project',
  summary: 'List the agents of one project',
  method: 'GET',
  path: '/api/workspaces/{workspace_id}/projects/{project_id}/agents/',
  access: inWorkspaceProject,
  params: workspaceParams.extend({ project_id: uuid }),
  query: pagination,
  result: z.array(agent),
  paged: true,
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
  faults: ['conflict'],
})

export const issueAgentToken = defineEndpoint({
  name: 'agents.tokens.issue',
  summary: 'Issue a further token to an agent',
  method: 'POST',
  path: tokensPath,
  access: inWorkspace,
  params: agentParams,
  body: z.strictObject(order),
  bodyOptional: true,
  result: orderedToken,
  success: 201,
  faults: ['already_exists', 'epoch_conflict', 'conflict'],
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
  summary: 'Revoke a token and forget its envelopes; again is no error',
  method: 'DELETE',
  path: `${tokensPath}{token_id}/`,
  access: inWorkspace,
  params: tokenParams,
  faults: ['conflict'],
})

export const provisionAgentToken = defineEndpoint({
  name: 'agents.tokens.provision',
  summary: 'Give a token the keys of environments, or newer ones',
  method: 'PUT',
  path: `${tokensPath}{token_id}/envelopes/`,
  access: inWorkspace,
  params: tokenParams,
  body: envelopesBody,
  result: provisioned,
  faults: ['epoch_conflict', 'conflict'],
})

export const unprovisionAgentToken = defineEndpoint({
  name: 'agents.tokens.unprovision',
  summary: 'Take the key of an environment away from a token',
  method: 'DELETE',
  path: `${tokensPath}{token_id}/envelopes/`,
  access: inWorkspace,
  params: tokenParams,
  query: grantQuery,
  faults: ['conflict'],
})

export const issueWorkloadToken = defineEndpoint({
  name: 'workload_tokens.issue',
  summary: 'Issue a token to a workload: one project, one environment',
  method: 'POST',
  path: workloadPath,
  access: inProject,
  params: projectParams,
  body: z.strictObject(workloadOrder),
  result: orderedToken,
  success: 201,
  faults: ['already_exists', 'epoch_conflict', 'conflict'],
})

export const listWorkloadTokens = defineEndpoint({
  name: 'workload_tokens.list',
  summary: 'List the workload tokens of a project, oldest first',
  method: 'GET',
  path: workloadPath,
  access: inProject,
  params: projectParams,
  query: pagination,
  result: z.array(token),
  paged: true,
})

export const revokeWorkloadToken = defineEndpoint({
  name: 'workload_tokens.revoke',
  summary: 'Revoke a workload token and forget its envelopes; again is no error',
  method: 'DELETE',
  path: `${workloadPath}{token_id}/`,
  access: inProject,
  params: workloadParams,
  faults: ['conflict'],
})

export const provisionWorkloadToken = defineEndpoint({
  name: 'workload_tokens.provision',
  summary: 'Give a workload token the key of its environment, or a newer one',
  method: 'PUT',
  path: `${workloadPath}{token_id}/envelopes/`,
  access: inProject,
  params: workloadParams,
  body: envelopesBody,
  result: provisioned,
  faults: ['epoch_conflict', 'conflict'],
})

export const unprovisionWorkloadToken = defineEndpoint({
  name: 'workload_tokens.unprovision',
  summary: 'Take the key of its environment away from a workload token',
  method: 'DELETE',
  path: `${workloadPath}{token_id}/envelopes/`,
  access: inProject,
  params: workloadParams,
  query: grantQuery,
  faults: ['conflict'],
})
