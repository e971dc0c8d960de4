/** Finding agents and tokens by what was typed: a name, which is unique where one works, or an id. */
import { listAgents } from '../features/agents/contract.ts'
import { type Chain, isSignedId } from '../sigchain/index.ts'
import type { Context } from './context.ts'
import { oneNamed } from './named.ts'
import { projectNamed, projectsOf, type WorkspaceScope } from './scope.ts'
import { type Column, ID } from './terminal/table.ts'

export type Agent = Awaited<ReturnType<typeof agentsOf>>[number]
type Token = { id: string; label: string; status: string }

export function agentsOf({ session, workspace }: WorkspaceScope) {
  return session.api.list(listAgents, { params: { workspace_id: workspace.id } })
}

/** Where agents of several projects have the name, it is the one of the chosen project. @throws CliError */
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
    (agent) => agent.name !== typed || projectId === null || usableIn(agent, projectId),
  )
  const where = `in ${scope.workspace.name}`
  return oneNamed(here, typed, { what: 'agent', where, list: 'agent list' })
}

/** An agent of that project, or one of the whole workspace. */
export function usableIn({ project_id }: Agent, projectId: string): boolean {
  return project_id === null || project_id === projectId
}

/** By label or id; a label that several have means the one that still works. @throws CliError */
export function tokenNamed<T extends Token>(all: readonly T[], typed: string, list: string): T {
  const byId = all.find(({ id }) => id === typed)
  if (byId) return byId
  const working = all.filter(({ label, status }) => label === typed && status === 'active')
  const named = (working.length > 0 ? working : all).map((token) => ({
    ...token,
    name: token.label,
  }))
  return oneNamed(named, typed, { what: 'token', list })
}

/** What is signed so that tokens stay revoked, whatever the database says later; null where it was before. */
export function revocationOf({ revokedTokens }: Chain, ids: readonly string[]) {
  const token_ids = ids.filter((id) => isSignedId(id) && !revokedTokens.has(id))
  return token_ids.length > 0 ? ({ type: 'tokens.revoked', body: { token_ids } } as const) : null
}

/** What a list of tokens shows: the id too where a label does not say which one is meant. */
export function tokenColumns(tokens: readonly Token[], place: 'grants' | 'environment'): Column[] {
  const working = tokens.filter(({ status }) => status === 'active').map(({ label }) => label)
  const isUnique = new Set(working).size === working.length
  return [
    'label',
    'status',
    'may',
    place,
    { field: 'expires_at', optional: true },
    { field: 'last_used_at', optional: true },
    isUnique ? ID : { field: 'id', whole: true },
  ]
}
