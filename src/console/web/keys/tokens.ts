/** Tokens and the environments that they are for, as commands read them. */

import type { Place } from '../../../client/signed/statements.ts'
import type { OpenWorkspace } from '../../../client/vault.ts'
import { listAgentTokens, listWorkloadTokens } from '../../../features/agents/contract.ts'
import { listEnvironments, listProjects } from '../../../features/projects/contract.ts'
import { Refused } from './failure.ts'
import type { Held } from './held.ts'

type Of = { workspaceId: string }

/** Of an agent, or of the workloads of a project. */
export type Owner = Of & ({ agentId: string } | { projectId: string })

export type Token = Awaited<ReturnType<typeof tokensOf>>[number]

export function tokensOf({ api }: Held, owner: Owner) {
  const { workspaceId } = owner
  if ('projectId' in owner)
    return api.list(listWorkloadTokens, { params: { project_id: owner.projectId } })
  const params = { workspace_id: workspaceId, registration_id: owner.agentId }
  return api.list(listAgentTokens, { params })
}

export async function tokenOf(held: Held, owner: Owner, tokenId: string): Promise<Token> {
  const found = (await tokensOf(held, owner)).find(({ id }) => id === tokenId)
  if (found?.status !== 'active') throw new Refused('not_found')
  return found
}

export async function projectNames({ api }: Held, workspace_id: string) {
  const projects = await api.list(listProjects, { query: { workspace_id } })
  return new Map(projects.map(({ id, name }) => [id, name]))
}

/** The environments of now whose keys a token of that scope gets. */
export async function placesOf(
  held: Held,
  { id }: OpenWorkspace,
  { projectId, environment }: { projectId: string | null; environment: string | null },
): Promise<Place[]> {
  const projects =
    projectId === null
      ? await held.api.list(listProjects, { query: { workspace_id: id } })
      : [{ id: projectId }]
  const places = await Promise.all(
    projects.map(async (project) => {
      const names = await environmentsOf(held, project.id)
      return names.map((name) => ({ projectId: project.id, environment: name }))
    }),
  )
  return places.flat().filter((place) => environment === null || place.environment === environment)
}

export async function environmentsOf({ api }: Held, projectId: string) {
  const { environments } = await api.call(listEnvironments, { params: { project_id: projectId } })
  return Object.keys(environments)
}
