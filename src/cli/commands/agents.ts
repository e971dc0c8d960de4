/** Agents and their tokens. Tokens are made here, so that the server never sees one. */
import { endToken, listTokensOf, removeAgent } from '../../client/actions/end_tokens.ts'
import { giveKeys } from '../../client/actions/grant.ts'
import { issueToAgent, registerWithToken } from '../../client/actions/issue_token.ts'
import { unprovisionAgentToken } from '../../features/agents/contract.ts'
import type { agentOptions, agentTokenOptions, confirmOptions } from '../catalogue/options.ts'
import type { Action } from '../command.ts'
import type { Context } from '../context.ts'
import {
  placeOf,
  projectNames,
  projectScope,
  type WorkspaceScope,
  workspaceScope,
} from '../scope.ts'
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
  const { session } = scope
  const registering = registerWithToken(placeOf(scope), { name, projectId }, terms)
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
  const { session } = scope
  const revoked = await removeAgent(endingIn(context, scope), agent.id)
  session.knownNames.forget(agent.id)
  await forgetToken(context, session, agent.id)
  const ended =
    revoked === null
      ? '; its tokens are refused from now on.'
      : `, and revoked ${counted(revoked, 'token')}.`
  context.output.done(`Deleted ${agent.name}${ended}`, {
    deleted: agent.name,
    id: agent.id,
  })
  return undefined
}

export const issue: Action<typeof agentTokenOptions> = async (context, [name = ''], options) => {
  const order = { ...orderOf(options), ...narrowedBy(options) }
  const scope = await tokenScope(context)
  const { session, project, environment } = scope
  const agent = await agentNamed(context, scope, name)
  demandUsable(scope, agent, project)
  if (!options.allowUnknown) await demandKnown(scope, order)
  const issued = await issueToAgent(placeOf(scope), agent, {
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
  await endToken(endingIn(context, scope), { agentId: agent.id }, token.id)
  context.output.done(revokedText(token), { revoked: token.id })
  return undefined
}

/** Gives a token the key of the chosen project and environment. */
export const grant: Action = async (context, args) => {
  const scope = await held(context, args)
  await demandEnvironment(scope)
  const { project, environment, agent, token } = scope
  const place = { projectId: project.id, environment }
  await giveKeys(placeOf(scope), { agentId: agent.id }, token, [place])
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
  if (workspace.chains)
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

function tokensOf(scope: WorkspaceScope, { id: agentId }: { id: string }) {
  return listTokensOf(placeOf(scope), { agentId })
}
