/** Agents and their tokens. Tokens are made here, so that the server never sees one. */

import { grantEnvironment, makeToken } from '../../client/vault.ts'
import {
  deleteAgent,
  issueAgentToken,
  listAgents,
  listAgentTokens,
  provisionAgentToken,
  registerAgent,
  registerProjectAgent,
  revokeAgentToken,
} from '../../features/agents/contract.ts'
import { EX_NOT_FOUND } from '../../platform/exit_codes.ts'
import type { agentOptions, confirmOptions, tokenOptions } from '../catalogue/options.ts'
import type { Action } from '../command.ts'
import { orderOf, showToken } from '../issued_token.ts'
import { projectScope, type WorkspaceScope, workspaceScope } from '../scope.ts'
import { CliError } from '../terminal/cli_error.ts'
import { confirmed } from '../terminal/confirmed.ts'

/** For the chosen project and environment, or with --all-projects for the whole workspace. */
export const create: Action<typeof agentOptions> = async (context, [name = ''], options) => {
  const order = orderOf(options)
  if (options.allProjects) {
    const { session, workspace } = await workspaceScope(context)
    const made = await makeToken(workspace.open, 'agt', [])
    const body = { name, ...order, token: made.order }
    const { agent, capabilities } = await session.api.call(registerAgent, {
      params: { workspace_id: workspace.id },
      body,
    })
    showToken(context, made.text, {
      agent: agent.name,
      id: agent.id,
      may: capabilities,
      grants: [],
    })
    context.output.warn('it has no grants yet: cloakroom token grant')
    return undefined
  }
  const { session, workspace, project, environment } = await projectScope(context)
  const made = await makeToken(workspace.open, 'agt', [{ projectId: project.id, environment }])
  const { agent, capabilities } = await session.api.call(registerProjectAgent, {
    params: { workspace_id: workspace.id, project_id: project.id },
    body: { name, environment, ...order, token: made.order },
  })
  showToken(context, made.text, {
    agent: agent.name,
    id: agent.id,
    may: capabilities,
    grants: [`${project.name}/${environment}`],
  })
  return undefined
}

export const list: Action = async (context) => {
  const { session, workspace } = await workspaceScope(context)
  const agents = await session.api.list(listAgents, { params: { workspace_id: workspace.id } })
  context.output.table(agents, ['name', 'active_token_count', 'token_count', 'last_used_at', 'id'])
  return undefined
}

export const remove: Action<typeof confirmOptions> = async (context, [name = ''], options) => {
  const scope = await workspaceScope(context)
  const agent = await agentNamed(scope, name)
  await confirmed(options, `Delete the agent ${agent.name} and revoke its tokens?`)
  const params = { workspace_id: scope.workspace.id, registration_id: agent.id }
  await scope.session.api.call(deleteAgent, { params })
  context.output.say(`Deleted ${agent.name}; its tokens are refused from now on.`)
  return undefined
}

export const issue: Action<typeof tokenOptions> = async (context, [name = ''], options) => {
  const { session, workspace, project, environment } = await projectScope(context)
  const agent = await agentNamed({ session, workspace }, name)
  const made = await makeToken(workspace.open, 'agt', [{ projectId: project.id, environment }])
  const { capabilities } = await session.api.call(issueAgentToken, {
    params: { workspace_id: workspace.id, registration_id: agent.id },
    body: { environment, ...orderOf(options), token: made.order },
  })
  showToken(context, made.text, {
    agent: agent.name,
    id: made.id,
    may: capabilities,
    grants: [`${project.name}/${environment}`],
  })
  return undefined
}

export const listTokens: Action = async (context, [name = '']) => {
  const scope = await workspaceScope(context)
  const agent = await agentNamed(scope, name)
  const params = { workspace_id: scope.workspace.id, registration_id: agent.id }
  const tokens = await scope.session.api.list(listAgentTokens, { params })
  const rows = tokens.map((token) => ({
    ...token,
    may: token.capabilities,
    grants: token.provisioned.map(({ environment }) => environment),
  }))
  context.output.table(
    rows,
    ['label', 'status', 'may', 'grants', 'expires_at', 'last_used_at', 'id'],
    tokens,
  )
  return undefined
}

export const revoke: Action = async (context, [name = '', token_id = '']) => {
  const scope = await workspaceScope(context)
  const agent = await agentNamed(scope, name)
  const params = { workspace_id: scope.workspace.id, registration_id: agent.id, token_id }
  await scope.session.api.call(revokeAgentToken, { params })
  context.output.say('Revoked; it is refused from now on.')
  return undefined
}

/** Gives a token the key of the chosen project and environment. */
export const grant: Action = async (context, [name = '', token_id = '']) => {
  const { session, workspace, project, environment } = await projectScope(context)
  const agent = await agentNamed({ session, workspace }, name)
  const params = { workspace_id: workspace.id, registration_id: agent.id }
  const tokens = await session.api.list(listAgentTokens, { params })
  const token = tokens.find(({ id }) => id === token_id)
  if (!token)
    throw new CliError(
      EX_NOT_FOUND,
      `${name} has no such token`,
      `list them with: cloakroom token list ${name}`,
    )
  const holder = { id: token.id, publicKey: token.public_key }
  const envelope = await grantEnvironment(workspace.open, holder, project.id, environment)
  await session.api.call(provisionAgentToken, { params: { ...params, token_id }, body: [envelope] })
  context.output.say(`${name} may use ${project.name}/${environment}.`)
  return undefined
}

async function agentNamed({ session, workspace }: WorkspaceScope, named: string) {
  const agents = await session.api.list(listAgents, { params: { workspace_id: workspace.id } })
  const [found, another] = agents.filter(({ id, name }) => id === named || name === named)
  if (found && !another) return found
  const hint = 'list them with: cloakroom agent list'
  throw new CliError(
    EX_NOT_FOUND,
    another ? `several agents are called ${named}: give the id` : `there is no agent ${named}`,
    hint,
  )
}
