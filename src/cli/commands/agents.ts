/** Agents and their tokens. Tokens are made here, so that the server never sees one. */
import { endTokens } from '../../client/agents/ending.ts'
import { issueToAgent, registerWithToken } from '../../client/agents/issuing.ts'
import { giveKeys } from '../../client/agents/provisioning.ts'
import {
  deleteAgent,
  listAgentTokens,
  revokeAgentToken,
  unprovisionAgentToken,
} from '../../features/agents/contract.ts'
import { isSignedId } from '../../sigchain/index.ts'
import type { agentOptions, agentTokenOptions, confirmOptions } from '../catalogue/options.ts'
import type { Action } from '../command.ts'
import type { Context } from '../context.ts'
import { projectNames, projectScope, type WorkspaceScope, workspaceScope } from '../scope.ts'
import { forgetToken, keepToken } from '../session/saved_tokens.ts'
import type { Session } from '../session/session.ts'
import { demandEnvironment, tokenScope } from '../suggestions.ts'
import { CliError } from '../terminal/cli_error.ts'
import { confirmed, confirmedOnTerminal, counted } from '../terminal/confirmed.ts'
import { ID, type Row } from '../terminal/table.ts'
import {
  type Agent,
  agentNamed,
  agentsOf,
  demandUsable,
  grantedToken,
  namingTaken,
  rememberAgent,
  revocableToken,
  revokedText,
  tokenColumns,
} from '../tokens/agents.ts'
import { checkActorName, narrowedBy, orderOf, showToken } from '../tokens/issued_token.ts'
import { demandKnown } from '../tokens/known_narrowing.ts'
import { endingIn } from '../tokens/revoking.ts'

/** For the chosen project and environment, or with --all-projects for the whole workspace. */
export const create: Action<typeof agentOptions> = async (context, [name = ''], options) => {
  checkActorName(name)
  const order = orderOf(options)
  if (options.allProjects) {
    const scope = await workspaceScope(context)
    const forAll = { environment: null, order, places: [] }
    await register(context, scope, { name, projectId: null }, { ...forAll, grants: [] }, options)
    context.output.note('it has no grants yet: cloakroom token grant')
    return undefined
  }
  const { project, environment, ...scope } = await tokenScope(context)
  const places = [{ projectId: project.id, environment }]
  const terms = { environment, order, places, grants: [`${project.name}/${environment}`] }
  await register(context, scope, { name, projectId: project.id }, terms, options)
  return undefined
}

type NewTerms = Parameters<typeof registerWithToken>[2] & { grants: string[] }

async function register(
  context: Context,
  scope: WorkspaceScope,
  { name, projectId }: { name: string; projectId: string | null },
  { grants, ...terms }: NewTerms,
  options: { save: boolean | undefined },
): Promise<void> {
  const { session, workspace } = scope
  const issuing = { api: session.api, workspace: workspace.open }
  const registering = registerWithToken(issuing, { name, projectId }, terms)
  const { agent, capabilities, text } = await namingTaken(scope, name, registering)
  rememberAgent(scope, { ...agent, name, project_id: projectId })
  const about = { agent: agent.name, id: agent.id, may: capabilities, grants }
  await handOut(context, session, { agent, token: text, about }, options)
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
  try {
    await keepToken(session, agent.id, token)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    context.output.warn(`The token is not kept on this machine: ${error.message}.`)
    showToken(context, token, about)
    return
  }
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
    tokens: `${agent.active_token_count} of ${agent.token_count}${agent.has_more_tokens ? '+' : ''}`,
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
  await confirmed(context.host, options, `Delete the agent ${agent.name} and revoke its tokens?`)
  const params = { workspace_id: scope.workspace.id, registration_id: agent.id }
  const { session, workspace } = scope
  const live = isSignedId(workspace.id) ? await liveTokens(scope, agent) : []
  await endTokens(endingIn(context, scope), live, (link) =>
    session.api.call(deleteAgent, { params, body: { link } }),
  )
  session.knownNames.forget(agent.id)
  await forgetToken(context, scope.session, agent.id)
  const ended = isSignedId(workspace.id)
    ? `, and revoked ${counted(live.length, 'token')}.`
    : '; its tokens are refused from now on.'
  context.output.done(`Deleted ${agent.name}${ended}`, {
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
  const order = { ...orderOf(options), ...narrowedBy(options) }
  const scope = await tokenScope(context)
  const { session, workspace, project, environment } = scope
  const agent = await agentNamed(context, scope, name)
  demandUsable(scope, agent, project)
  if (!options.allowUnknown) await demandKnown(scope, order)
  const issued = await issueToAgent({ api: session.api, workspace: workspace.open }, agent, {
    environment,
    order,
    places: [{ projectId: project.id, environment }],
  })
  const grants = [`${project.name}/${environment}`]
  const bound = agent.project_id === null ? 'all' : project.name
  const { id, capabilities: may } = issued
  const about = { agent: agent.name, project: bound, id, may, grants, ...narrowedBy(options) }
  await handOut(context, session, { agent, token: issued.text, about }, options)
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

export const revoke: Action<typeof confirmOptions> = async (
  context,
  [name = '', typed = ''],
  options,
) => {
  const scope = await workspaceScope(context)
  const agent = await agentNamed(context, scope, name)
  const [all, list] = [await tokensOf(scope, agent), `token list ${agent.name}`]
  const token = await revocableToken(scope, { agentId: agent.id }, all, typed, list)
  await confirmedOnTerminal(context.host, options, `Revoke ${typed}? You can't undo this.`)
  const params = { workspace_id: scope.workspace.id, registration_id: agent.id, token_id: token.id }
  await endTokens(endingIn(context, scope), [token.id], (link) =>
    scope.session.api.call(revokeAgentToken, { params, body: { link } }),
  )
  context.output.done(revokedText(token), { revoked: token.id })
  return undefined
}

/** Gives a token the key of the chosen project and environment. */
export const grant: Action = async (context, args) => {
  const scope = await held(context, args)
  await demandEnvironment(scope)
  const { workspace, session, project, environment, agent, token } = scope
  const giving = { api: session.api, workspace: workspace.open }
  const place = { projectId: project.id, environment }
  await giveKeys(giving, { agentId: agent.id }, token, [place])
  context.output.done(`${agent.name} may use ${project.name}/${environment}.`, {
    agent: agent.name,
    token_id: token.id,
    granted: `${project.name}/${environment}`,
  })
  return undefined
}

/** Takes the key of the chosen project and environment away again. */
export const ungrant: Action = async (context, args) => {
  const scope = await held(context, args)
  const { session, workspace, project, environment, agent, token, params } = scope
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
  const token = await tokenOfAgent(scope, agent, typed)
  const registration = { workspace_id: scope.workspace.id, registration_id: agent.id }
  return { ...scope, agent, token, params: { ...registration, token_id: token.id } }
}

async function tokenOfAgent(scope: WorkspaceScope, { id, name }: Agent, typed: string) {
  const all = await tokensOf(scope, { id })
  return grantedToken(scope, { agentId: id }, all, typed, `token list ${name}`)
}

function tokensOf({ session, workspace }: WorkspaceScope, agent: { id: string }) {
  const params = { workspace_id: workspace.id, registration_id: agent.id }
  return session.api.list(listAgentTokens, { params })
}
