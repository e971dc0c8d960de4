/** Tokens and the environments that they are for, as commands read them. */

import { type Ending, listTokensOf } from '../../../client/actions/end_tokens.ts'
import type { TokenOwner } from '../../../client/agents/tokens.ts'
import type { Place } from '../../../client/signed/statements.ts'
import type { WorkspacePlace } from '../../../client/workspace.ts'
import { listEnvironments, listProjects } from '../../../features/projects/contract.ts'
import { Refused } from './failure.ts'
import type { Held } from './held.ts'
import { placeIn } from './places.ts'

export type Owner = { workspaceId: string } & TokenOwner

export type Token = Awaited<ReturnType<typeof listTokensOf>>[number]

export async function tokenOf(place: WorkspacePlace, owner: TokenOwner, tokenId: string) {
  const found = (await listTokensOf(place, owner)).find(({ id }) => id === tokenId)
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
  workspace_id: string,
  { projectId, environment }: { projectId: string | null; environment: string | null },
): Promise<Place[]> {
  const projects =
    projectId === null
      ? await held.api.list(listProjects, { query: { workspace_id } })
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

/** Ends tokens, or what they belong to. Returns whether only the server's database says so: it took no link. */
export async function ending(
  held: Held,
  workspaceId: string,
  act: (ending: Ending) => Promise<unknown>,
) {
  let isUnsigned = false
  const unsigned = () => {
    isUnsigned = true
  }
  await act({ ...(await placeIn(held, workspaceId)), unsigned })
  return { isUnsigned }
}
