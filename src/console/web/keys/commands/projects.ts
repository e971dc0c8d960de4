/** Creates projects and environments, which needs no key, and deletes them with their tokens. */
import {
  isNotFound,
  removeEnvironment,
  removeProject,
  type TokenEnding,
} from '../../../../client/actions/end_tokens.ts'
import {
  createEnvironment,
  createProject,
  listEnvironments,
} from '../../../../features/projects/contract.ts'
import { callFailure } from '../call_failure.ts'
import { Refused } from '../failure.ts'
import { type Place, workspaceOf } from '../places.ts'
import { endTokens, environmentNames, projectNamesOf } from '../tokens.ts'
import type { UnlockedSession } from '../unlocked_session.ts'
import { agentsCommands } from './agents/index.ts'

export const projectsCommands = {
  create,
  addEnvironment,
  losses,
  remove,
  removeEnvironment: removeOneEnvironment,
}

/** @throws ApiError `already_exists`, UntrustedChain */
async function create(
  session: UnlockedSession,
  { workspaceId, name }: { workspaceId: string; name: string },
) {
  await workspaceOf(session, workspaceId)
  const { id } = await session.api.call(createProject, {
    body: { name, workspace_id: workspaceId },
  })
  return { id }
}

/** @throws ApiError `already_exists` */
async function addEnvironment(
  session: UnlockedSession,
  { projectId, name }: { projectId: string; name: string },
) {
  await session.api.call(createEnvironment, { params: { project_id: projectId }, body: { name } })
}

type Project = Omit<Place, 'environment'>

/** Secrets, agents and tokens that are deleted with a project. Tokens of workloads have no agent. */
async function losses(session: UnlockedSession, { workspaceId, projectId }: Project) {
  const [{ environments }, agents] = await Promise.all([
    session.api.call(listEnvironments, { params: { project_id: projectId } }),
    agentsCommands.list(session, { workspaceId }),
  ])
  const owners = agents.filter((agent) => agent.projectId === projectId)
  const listed = await Promise.all([
    agentsCommands
      .tokens(session, { workspaceId, projectId })
      .then((all) => listEndedTokens(null, all)),
    ...owners.map(async ({ id, name }) =>
      listEndedTokens(name, await agentsCommands.tokens(session, { workspaceId, agentId: id })),
    ),
  ])
  return {
    environments: Object.entries(environments).map(([name, { secret_count, has_more }]) => ({
      name,
      secrets: secret_count,
      hasMore: has_more ?? false,
    })),
    agents: owners.map(({ name }) => name),
    tokens: listed.flat(),
  }
}

function listEndedTokens(
  agent: string | null,
  listed: Awaited<ReturnType<typeof agentsCommands.tokens>>,
) {
  return listed
    .filter(({ status }) => status === 'active')
    .map(({ label, environment }) => ({ agent, label, environment }))
}

/** @throws Refused `unfinished`, ApiError, UntrustedChain */
function remove(session: UnlockedSession, { workspaceId, projectId }: Project) {
  return runRemoval(
    session,
    { workspaceId, projectId },
    {
      act: (by) => removeProject(by, projectId),
      isThere: async () => (await projectNamesOf(session, workspaceId)).has(projectId),
    },
  )
}

/** @throws Refused `unfinished`, ApiError, UntrustedChain */
function removeOneEnvironment(session: UnlockedSession, { environment, ...project }: Place) {
  const { projectId } = project
  return runRemoval(session, project, {
    act: (by) => removeEnvironment(by, { projectId, environment }),
    isThere: async () => (await environmentNames(session, projectId)).includes(environment),
  })
}

type Removal = { act(by: TokenEnding): Promise<unknown>; isThere(): Promise<boolean> }

/** `wasGone` is true if someone else deleted it first. */
async function runRemoval(
  session: UnlockedSession,
  { workspaceId, projectId }: Project,
  { act, isThere }: Removal,
) {
  session.names.demand(projectId)
  try {
    return { wasGone: false, ...(await endTokens(session, workspaceId, act)) }
  } catch (error) {
    // The last request may have succeeded, and earlier ones have.
    if (UNANSWERED.includes(callFailure(error)?.code ?? '')) throw new Refused('unfinished')
    if (!isNotFound(error) || (await isPresent(isThere()))) throw error
    return { wasGone: true, isUnsigned: false }
  }
}

const UNANSWERED = ['unreachable', 'lost_answer', 'unusable_answer']

async function isPresent(there: Promise<boolean>): Promise<boolean> {
  return there.catch((error: unknown) => {
    if (isNotFound(error)) return false
    throw error
  })
}
