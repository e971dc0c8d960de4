/** Finds agents and tokens by ID, or by name, which is unique among active ones. */
import { shellWord } from '../../client/agents/shell_word.ts'
import { checkStanding, holderOf } from '../../client/agents/tokens.ts'
import { ApiError } from '../../client/http/api.ts'
import type { NameList } from '../../client/known_names.ts'
import { listAgents } from '../../features/agents/contract.ts'
import type { Context } from '../context.ts'
import { requireItem } from '../named.ts'
import { projectNamed, projectsOf, type WorkspaceScope } from '../scope.ts'
import type { Session } from '../session/session.ts'
import { CliError } from '../terminal/cli_error.ts'
import { type Column, ID } from '../terminal/table.ts'
import { demandNew, requireKnown } from '../trust/known_names.ts'

export type Agent = Awaited<ReturnType<typeof agentsOf>>[number]
/** The UUID versions of tokens, in signed workspaces and others. */
const MADE_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

type Token = { id: string; label: string; status: string }
type Narrowed = { hosts: string[] | null; secrets: string[] | null; limits: object | null }

export async function agentsOf({ session, workspace }: Place) {
  const agents = await session.api.list(listAgents, { params: { workspace_id: workspace.id } })
  session.knownNames.learn(namesOfAgents(workspace), agents)
  session.knownNames.learn(homesOf(workspace), agents.map(homeOf))
  return agents
}

type Place = { session: Pick<Session, 'api' | 'knownNames'>; workspace: { id: string } }

export function namesOfAgents({ id }: { id: string }): NameList {
  return `agents of ${id}`
}

function homesOf({ id }: { id: string }): NameList {
  return `home agents of ${id}`
}

/** Agents never change their project, which signed grants depend on. */
function homeOf({ id, project_id }: { id: string; project_id: string | null }) {
  return { name: id, id: project_id ?? 'all' }
}

/** A listed agent, by ID or by a known name. @throws CliError */
export function requireKnownAgent(
  { session: { knownNames }, workspace }: Place,
  agents: readonly Agent[],
  typed: string,
  where: string,
): Agent {
  const kind = { what: 'agent', where, list: 'agent list' }
  return requireKnown(knownNames, namesOfAgents(workspace), agents, typed, kind)
}

/** Before a token is signed for it: that binds the token to the project of the agent. @throws CliError */
export function demandHome({ session: { knownNames }, workspace }: Place, agent: Agent): void {
  const [before] = knownNames.idsOf(homesOf(workspace), agent.id)
  const { id: now } = homeOf(agent)
  if (before === now) return
  throw new CliError(
    'changed_name',
    `the project of the agent ${agent.name} was ${before}, but the server now shows ${now}; nothing was done`,
    'agents never change their project: contact the server operator',
  )
}

/** Keeps one that was made here; others of the name may be in other projects. */
export function rememberAgent({ session: { knownNames }, workspace }: Place, agent: Agent): void {
  const list = namesOfAgents(workspace)
  demandNew(knownNames, list, agent)
  knownNames.accept(list, agent.name, [agent.id, ...knownNames.idsOf(list, agent.name)])
  knownNames.learn(homesOf(workspace), [homeOf(agent)])
}

/** An agent of this very name gets another token; one that only looks like it is refused as the server says. */
export async function explainTakenName<T>(
  scope: Place,
  name: string,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'already_exists') throw error
    const agents = await agentsOf(scope).catch(() => [])
    if (!agents.some((agent) => agent.name === name)) throw error
    const hint = `issue another token for it: cloakroom token issue ${shellWord(name)}`
    throw new CliError('name_taken', `an agent ${name} exists`, hint)
  }
}

/** If agents of several projects have the name, returns the one of the selected project. @throws CliError */
export async function agentNamed(
  context: Context,
  scope: WorkspaceScope,
  typed: string,
): Promise<Agent> {
  const agents = await agentsOf(scope)
  const { project } = context.settings
  const isAmbiguous = agents.filter(({ name }) => name === typed).length > 1
  const projectId =
    isAmbiguous && project !== undefined
      ? projectNamed(scope, await projectsOf(scope), project.value).id
      : null
  const here = agents.filter(
    (agent) => agent.name !== typed || projectId === null || isUsableIn(agent, projectId),
  )
  return requireKnownAgent(scope, here, typed, `in ${scope.workspace.name}`)
}

/** @throws CliError for an agent of another project, or of which the server shows another than before */
export function demandUsable(
  scope: Place,
  agent: Agent,
  project: { id: string; name: string },
): void {
  demandHome(scope, agent)
  if (isUsableIn(agent, project.id)) return
  throw new CliError(
    'not_found',
    `${agent.name} belongs to another project than ${project.name}: ${agent.project_id}`,
    `to use that project: cloakroom token issue ${agent.name} -p ${agent.project_id}`,
  )
}

/** An agent of that project, or one of the whole workspace. */
export function isUsableIn({ project_id }: Agent, projectId: string): boolean {
  return project_id === null || project_id === projectId
}

/**
 * By label or ID. An ambiguous label means the active token. Text in the form of an ID is never a label: otherwise, a
 * server that hides a token could make another one end instead.
 *
 * @throws CliError
 */
export function tokenNamed<T extends Token>(all: readonly T[], typed: string, list: string): T {
  const byId = all.find(({ id }) => id === typed)
  if (byId) return byId
  const labelled = all.find(({ label }) => label === typed)
  if (labelled && MADE_ID.test(typed)) {
    throw new CliError(
      'ambiguous_name',
      `no token has the ID ${typed}, but one has it as label`,
      `to use that one, give its ID: ${labelled.id}`,
    )
  }
  const working = all.filter(({ label, status }) => label === typed && status === 'active')
  const named = (working.length > 0 ? working : all).map((token) => ({
    ...token,
    name: token.label,
  }))
  return requireItem(named, typed, { what: 'token', list })
}

/**
 * The same; in a signed workspace, labels come from the grants.
 *
 * @throws CliError, UntrustedChain
 */
export async function requireGrantedToken<T extends Token & Parameters<typeof holderOf>[1]>(
  { workspace }: WorkspaceScope,
  owner: Parameters<typeof holderOf>[2],
  all: readonly T[],
  typed: string,
  list: string,
): Promise<T> {
  const token = tokenNamed(all, typed, list)
  if (token.id !== typed) await holderOf(workspace.open, token, owner)
  return token
}

/**
 * A token to revoke. One that ended keeps its label by the grant that it had. A label without a grant is not signed:
 * someone with database access could hide the intended token behind it.
 *
 * @throws CliError, UntrustedChain
 */
export async function revocableToken<T extends Token & Parameters<typeof holderOf>[1]>(
  { workspace }: WorkspaceScope,
  owner: Parameters<typeof holderOf>[2],
  all: readonly T[],
  typed: string,
  list: string,
): Promise<T> {
  const token = tokenNamed(all, typed, list)
  if (token.id === typed) return token
  const standing = await checkStanding(workspace.open, token, owner)
  if (standing?.is !== 'ungranted') return token
  throw new CliError(
    'ended_token',
    `the token ${token.label} has no signed grant, so its label is not proven`,
    `revoke it by ID: cloakroom ${list.replace('list', 'revoke')} ${token.id}`,
  )
}

/** The output of `revoke`. Revoking twice is no error. */
export function formatRevoked({ status }: Token): string {
  return status === 'revoked' ? 'It was revoked already.' : 'Revoked. The token is now rejected.'
}

/**
 * The columns of a list of tokens: the id where a label does not say which one is meant, and hosts, secrets and
 * limits where a token has some.
 */
export function tokenColumns(
  tokens: readonly (Token & Narrowed)[],
  place: 'grants' | 'environment',
): Column[] {
  const working = tokens.filter(({ status }) => status === 'active').map(({ label }) => label)
  const isUnique = new Set(working).size === working.length
  return [
    'label',
    'status',
    'may',
    place,
    ...(['hosts', 'secrets', 'limits'] as const).filter((field) =>
      tokens.some((token) => token[field]),
    ),
    { field: 'expires_at', optional: true },
    { field: 'last_used_at', optional: true },
    isUnique ? ID : { field: 'id', whole: true },
  ]
}
