/** Agents and their tokens. Tokens are made here, so that the server never sees one. */

import { holderOf, makeToken } from '../../client/tokens.ts'
import { grantEnvironment } from '../../client/vault.ts'
import {
  deleteAgent,
  issueAgentToken,
  listAgentTokens,
  provisionAgentToken,
  registerAgent,
  registerProjectAgent,
  revokeAgentToken,
  unprovisionAgentToken,
} from '../../features/agents/contract.ts'
import { uuidv7 } from '../../platform/crypto/encoding.ts'
import { isSignedId } from '../../sigchain/index.ts'
import {
  agentNamed,
  agentsOf,
  demandUsable,
  rememberAgent,
  revocationOf,
  tokenColumns,
  tokenNamed,
} from '../agents.ts'
import type { agentOptions, agentTokenOptions, confirmOptions } from '../catalogue/options.ts'
import type { Action } from '../command.ts'
import type { Context } from '../context.ts'
import { orderOf, showToken } from '../issued_token.ts'
import { projectNames, projectScope, type WorkspaceScope, workspaceScope } from '../scope.ts'
import { keepToken } from '../session/saved_tokens.ts'
import type { Session } from '../session/session.ts'
import { demandEnvironment, tokenScope } from '../suggestions.ts'
import { confirmed } from '../terminal/confirmed.ts'
import { ID, type Row } from '../terminal/table.ts'

/** For the chosen project and environment, or with --all-projects for the whole workspace. */
export const create: Action<typeof agentOptions> = async (context, [name = ''], options) => {
  const order = orderOf(options)
  // What a token may do is signed with the agent that it is of.
  const id = uuidv7()
  const newAgent = { kind: 'agent', agentId: id } as const
  if (options.allProjects) {
    const { session, workspace } = await workspaceScope(context)
    const scope = { ...newAgent, projectId: null, environment: null }
    const made = await makeToken(workspace.open, scope, order, [])
    const { agent, capabilities } = await session.api.call(registerAgent, {
      params: { workspace_id: workspace.id },
      body: { ...chosenId(workspace, id), name, ...made.body },
    })
    rememberAgent({ session, workspace }, { ...agent, name, project_id: null })
    const about = { agent: agent.name, id: agent.id, may: capabilities, grants: [] }
    await handOut(context, session, { agent, token: made.text, about }, options)
    context.output.note('it has no grants yet: cloakroom token grant')
    return undefined
  }
  const { session, workspace, project, environment } = await tokenScope(context)
  const place = { projectId: project.id, environment }
  const made = await makeToken(workspace.open, { ...newAgent, ...place }, order, [place])
  const { agent, capabilities } = await session.api.call(registerProjectAgent, {
    params: { workspace_id: workspace.id, project_id: project.id },
    body: { ...chosenId(workspace, id), name, ...made.body },
  })
  rememberAgent({ session, workspace }, { ...agent, name, project_id: project.id })
  const grants = [`${project.name}/${environment}`]
  const about = { agent: agent.name, id: agent.id, may: capabilities, grants }
  await handOut(context, session, { agent, token: made.text, about }, options)
  return undefined
}

/** In a plain workspace the server chooses one. */
function chosenId(workspace: { id: string }, id: string): { id?: string } {
  return isSignedId(workspace.id) ? { id } : {}
}

type Issued = { agent: { id: string; name: string }; token: string; about: Row }

/** Shows the token the only time that anybody will, or keeps it unseen. */
async function handOut(
  context: Context,
  session: Session,
  { agent, token, about }: Issued,
  { save }: { save: boolean | undefined },
): Promise<void> {
  if (!save) {
    showToken(context, token, about)
    return
  }
  await keepToken(session, agent.id, token)
  context.output.record({ ...about, token: `kept in ${session.store.location}` }, agent.id)
  context.output.note(`Use it with: cloakroom call --agent ${agent.name}`)
}

export const list: Action = async (context) => {
  const scope = await workspaceScope(context)
  const agents = await agentsOf(scope)
  const projects = await projectNames(scope)
  const rows = agents.map((agent) => ({
    ...agent,
    project: agent.project_id === null ? 'all' : (projects.get(agent.project_id) ?? '(deleted)'),
    tokens: `${agent.active_token_count} of ${agent.token_count}`,
  }))
  const columns = [
    { field: 'name', whole: true },
    'project',
    { field: 'tokens', title: 'active tokens' },
    'last_used_at',
    ID,
  ] as const
  context.output.table(rows, columns, agents)
  return undefined
}

export const remove: Action<typeof confirmOptions> = async (context, [name = ''], options) => {
  const scope = await workspaceScope(context)
  const agent = await agentNamed(context, scope, name)
  await confirmed(options, `Delete the agent ${agent.name} and revoke its tokens?`)
  const params = { workspace_id: scope.workspace.id, registration_id: agent.id }
  const { session, workspace } = scope
  const live = isSignedId(workspace.id) ? await liveTokens(scope, agent) : []
  await session.sign(
    workspace,
    (chain) => revocationOf(chain, live),
    (link) => session.api.call(deleteAgent, { params, body: { link } }),
  )
  session.knownNames.forget(agent.id)
  await keepToken(scope.session, agent.id, null)
  context.output.done(`Deleted ${agent.name}; its tokens are refused from now on.`, {
    deleted: agent.name,
    id: agent.id,
  })
  return undefined
}

/** Of which the server ends all, also those that are over by now. */
async function liveTokens(scope: WorkspaceScope, agent: { id: string }): Promise<string[]> {
  const tokens = await tokensOf(scope, agent)
  return tokens.flatMap(({ id, status }) => (status === 'revoked' ? [] : id))
}

export const issue: Action<typeof agentTokenOptions> = async (context, [name = ''], options) => {
  const { session, workspace, project, environment } = await tokenScope(context)
  const agent = await agentNamed(context, { session, workspace }, name)
  demandUsable({ session, workspace }, agent, project)
  const scope = {
    kind: 'agent',
    agentId: agent.id,
    projectId: agent.project_id,
    environment,
  } as const
  const places = [{ projectId: project.id, environment }]
  const made = await makeToken(workspace.open, scope, orderOf(options), places)
  const { capabilities } = await session.api.call(issueAgentToken, {
    params: { workspace_id: workspace.id, registration_id: agent.id },
    body: made.body,
  })
  const grants = [`${project.name}/${environment}`]
  const bound = agent.project_id === null ? 'all' : project.name
  const about = { agent: agent.name, project: bound, id: made.id, may: capabilities, grants }
  await handOut(context, session, { agent, token: made.text, about }, options)
  return undefined
}

export const listTokens: Action = async (context, [name = '']) => {
  const scope = await workspaceScope(context)
  const agent = await agentNamed(context, scope, name)
  const tokens = await tokensOf(scope, agent)
  const rows = tokens.map((token) => ({
    ...token,
    may: token.capabilities,
    grants: token.provisioned.map(({ environment }) => environment),
  }))
  context.output.table(rows, tokenColumns(tokens, 'grants'), tokens)
  return undefined
}

export const revoke: Action = async (context, [name = '', typed = '']) => {
  const scope = await workspaceScope(context)
  const agent = await agentNamed(context, scope, name)
  const token = tokenNamed(await tokensOf(scope, agent), typed, `token list ${agent.name}`)
  const params = { workspace_id: scope.workspace.id, registration_id: agent.id, token_id: token.id }
  const { session, workspace } = scope
  await session.sign(
    workspace,
    (chain) => revocationOf(chain, [token.id]),
    (link) => session.api.call(revokeAgentToken, { params, body: { link } }),
  )
  context.output.done('Revoked; it is refused from now on.', { revoked: token.id })
  return undefined
}

/** Gives a token the key of the chosen project and environment. */
export const grant: Action = async (context, args) => {
  const scope = await held(context, args)
  await demandEnvironment(scope)
  const { workspace, session, project, environment, agent, token, params } = scope
  const holder = await holderOf(workspace.open, token, { agentId: agent.id })
  const envelope = await grantEnvironment(workspace.open, holder, project.id, environment)
  await session.api.call(provisionAgentToken, { params, body: [envelope] })
  context.output.done(`${agent.name} may use ${project.name}/${environment}.`, {
    agent: agent.name,
    token_id: token.id,
    granted: `${project.name}/${environment}`,
  })
  return undefined
}

/** Takes the key of the chosen project and environment away again. */
export const ungrant: Action = async (context, args) => {
  const { session, workspace, project, environment, agent, token, params } = await held(
    context,
    args,
  )
  const query = { project_id: project.id, environment }
  await session.api.call(unprovisionAgentToken, { params, query })
  const place = `${project.name}/${environment}`
  context.output.done(`${agent.name} may no longer use ${place}.`, {
    agent: agent.name,
    token_id: token.id,
    taken_away: place,
  })
  if (isSignedId(workspace.id))
    context.output.note(
      'Nobody signs that: who writes the database can bring it back until the token is revoked, or the workspace rekeyed.',
    )
  return undefined
}

/** The chosen environment, and a token of an agent. @throws CliError */
async function held(context: Context, [name = '', typed = '']: string[]) {
  const scope = await projectScope(context)
  const agent = await agentNamed(context, scope, name)
  const token = tokenNamed(await tokensOf(scope, agent), typed, `token list ${agent.name}`)
  const params = {
    workspace_id: scope.workspace.id,
    registration_id: agent.id,
    token_id: token.id,
  }
  return { ...scope, agent, token, params }
}

function tokensOf({ session, workspace }: WorkspaceScope, agent: { id: string }) {
  const params = { workspace_id: workspace.id, registration_id: agent.id }
  return session.api.list(listAgentTokens, { params })
}
