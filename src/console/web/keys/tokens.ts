/** Reads tokens and their environments for commands. */

import type { TokenEnding } from '../../../client/actions/end_tokens.ts'
import { listTokensOf, readTokens } from '../../../client/actions/read_tokens.ts'
import type { TokenOwner } from '../../../client/agents/tokens.ts'
import type { Place } from '../../../client/signed/statements.ts'
import type { WorkspacePlace } from '../../../client/workspace.ts'
import { listAgents } from '../../../features/agents/contract.ts'
import { listEnvironments, listProjects } from '../../../features/projects/contract.ts'
import { Refused } from './failure.ts'
import { type Place as EnvironmentOf, placeIn } from './places.ts'
import type { UnlockedSession } from './unlocked_session.ts'

export type TokensOwner = { workspaceId: string } & TokenOwner

export type Token = Awaited<ReturnType<typeof listTokensOf>>[number]

export async function findActiveToken(place: WorkspacePlace, owner: TokenOwner, tokenId: string) {
  const found = (await listTokensOf(place, owner)).find(({ id }) => id === tokenId)
  if (found?.status !== 'active') throw new Refused('not_found')
  return found
}

export async function projectNamesOf({ api }: UnlockedSession, workspace_id: string) {
  const projects = await api.list(listProjects, { query: { workspace_id } })
  return new Map(projects.map(({ id, name }) => [id, name]))
}

/** Current environments within a token's scope. */
export async function placesIn(
  session: UnlockedSession,
  workspace_id: string,
  { projectId, environment }: { projectId: string | null; environment: string | null },
): Promise<Place[]> {
  const projects =
    projectId === null
      ? await session.api.list(listProjects, { query: { workspace_id } })
      : [{ id: projectId }]
  const places = await Promise.all(
    projects.map(async (project) => {
      const names = await environmentNames(session, project.id)
      return names.map((name) => ({ projectId: project.id, environment: name }))
    }),
  )
  return places.flat().filter((place) => environment === null || place.environment === environment)
}

export async function environmentNames({ api }: UnlockedSession, projectId: string) {
  const { environments } = await api.call(listEnvironments, { params: { project_id: projectId } })
  return Object.keys(environments)
}

/** The most agents whose tokens are read for one secret. Each agent costs a request. */
const MAX_AGENTS = 50

/** Active tokens of agents and of the project that cover an environment. */
export async function tokensInScope(
  session: UnlockedSession,
  { workspaceId, projectId, environment }: EnvironmentOf,
) {
  const place = await placeIn(session, workspaceId)
  const listed = await session.api.list(listAgents, { params: { workspace_id: workspaceId } })
  const agents = listed.filter(({ project_id: own }) => own === null || own === projectId)
  const owners: { name: string | null; owner: TokenOwner }[] = [
    ...agents.slice(0, MAX_AGENTS).map(({ id, name }) => ({ name, owner: { agentId: id } })),
    { name: null, owner: { projectId } },
  ]
  const read = await Promise.all(
    owners.map(async ({ name, owner }) =>
      (await readTokens(place, owner))
        .filter(
          (token) =>
            token.status === 'active' &&
            token.fault === null &&
            (token.projectId ?? projectId) === projectId &&
            (token.environment ?? environment) === environment,
        )
        .map(({ id, label, capabilities, expiresAt }) => ({
          id,
          agent: name,
          label,
          capabilities,
          expiresAt,
        })),
    ),
  )
  return { tokens: read.flat(), isWhole: agents.length <= MAX_AGENTS }
}

/** Revokes tokens, or deletes their owner. `isUnsigned` is true if the server stored no signed link for that. */
export async function endTokens(
  session: UnlockedSession,
  workspaceId: string,
  act: (ending: TokenEnding) => Promise<unknown>,
) {
  let isUnsigned = false
  const reportUnsigned = () => {
    isUnsigned = true
  }
  await act({ ...(await placeIn(session, workspaceId)), unsigned: reportUnsigned })
  return { isUnsigned }
}
