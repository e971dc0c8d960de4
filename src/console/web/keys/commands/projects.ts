/** Projects and their environments, which are made without a key, and end with the tokens that belong to them. */
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
import type { HeldKeys } from '../held.ts'
import { type Place, workspaceOf } from '../places.ts'
import { ending, environmentNames, projectNamesOf } from '../tokens.ts'
import { agentsCommands } from './agents.ts'

export const projectsCommands = {
  create,
  addEnvironment,
  losses,
  remove,
  removeEnvironment: removeOneEnvironment,
}

/** @throws ApiError `already_exists`, UntrustedChain */
async function create(
  held: HeldKeys,
  { workspaceId, name }: { workspaceId: string; name: string },
) {
  await workspaceOf(held, workspaceId)
  const { id } = await held.api.call(createProject, { body: { name, workspace_id: workspaceId } })
  return { id }
}

/** @throws ApiError `already_exists` */
async function addEnvironment(
  held: HeldKeys,
  { projectId, name }: { projectId: string; name: string },
) {
  await held.api.call(createEnvironment, { params: { project_id: projectId }, body: { name } })
}

type Project = Omit<Place, 'environment'>

/** What goes with a project, by environment: secrets, and tokens by the name of their agent; those of workloads have none. */
async function losses(held: HeldKeys, { workspaceId, projectId }: Project) {
  const [{ environments }, agents] = await Promise.all([
    held.api.call(listEnvironments, { params: { project_id: projectId } }),
    agentsCommands.list(held, { workspaceId }),
  ])
  const owners = agents.filter((agent) => agent.projectId === projectId)
  const listed = await Promise.all([
    agentsCommands.tokens(held, { workspaceId, projectId }).then((all) => ended(null, all)),
    ...owners.map(async ({ id, name }) =>
      ended(name, await agentsCommands.tokens(held, { workspaceId, agentId: id })),
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

function ended(agent: string | null, listed: Awaited<ReturnType<typeof agentsCommands.tokens>>) {
  return listed
    .filter(({ status }) => status === 'active')
    .map(({ label, environment }) => ({ agent, label, environment }))
}

/** @throws Refused `unfinished`, ApiError, UntrustedChain */
function remove(held: HeldKeys, { workspaceId, projectId }: Project) {
  return removing(
    held,
    { workspaceId, projectId },
    {
      act: (by) => removeProject(by, projectId),
      isThere: async () => (await projectNamesOf(held, workspaceId)).has(projectId),
    },
  )
}

/** @throws Refused `unfinished`, ApiError, UntrustedChain */
function removeOneEnvironment(held: HeldKeys, { environment, ...project }: Place) {
  const { projectId } = project
  return removing(held, project, {
    act: (by) => removeEnvironment(by, { projectId, environment }),
    isThere: async () => (await environmentNames(held, projectId)).includes(environment),
  })
}

type Removal = { act(by: TokenEnding): Promise<unknown>; isThere(): Promise<boolean> }

/** `wasGone` says that somebody else was faster. */
async function removing(
  held: HeldKeys,
  { workspaceId, projectId }: Project,
  { act, isThere }: Removal,
) {
  held.names.demand(projectId)
  try {
    return { wasGone: false, ...(await ending(held, workspaceId, act)) }
  } catch (error) {
    // What was sent last may be done, and what came before it is.
    if (UNANSWERED.includes(callFailure(error)?.code ?? '')) throw new Refused('unfinished')
    if (!isNotFound(error) || (await orAbsent(isThere()))) throw error
    return { wasGone: true, isUnsigned: false }
  }
}

const UNANSWERED = ['unreachable', 'unusable_answer']

async function orAbsent(there: Promise<boolean>): Promise<boolean> {
  return there.catch((error: unknown) => {
    if (isNotFound(error)) return false
    throw error
  })
}
