/** How far somebody is on the way to the first call of an agent: what there is of each thing that it takes. */
import { listEnvironments, listProjects } from '../../../../features/projects/contract.ts'
import type { HeldKeys } from '../held.ts'
import { agentsCommands } from './agents.ts'
import { allowlistCommands } from './allowlist.ts'
import { secretsCommands } from './secrets.ts'

export const firstStepsCommands = { progress }

type Of = { workspaceId: string }

/** Where the first secret goes, if there is none anywhere. */
const ENVIRONMENT = 'development'

/** The first of each; what is verified elsewhere is verified here too. @throws UntrustedChain */
async function progress(held: HeldKeys, { workspaceId }: Of) {
  const [projects, { entries }, everyAgent] = await Promise.all([
    held.api.list(listProjects, { query: { workspace_id: workspaceId } }),
    allowlistCommands.list(held, { workspaceId }),
    agentsCommands.list(held, { workspaceId }),
  ])
  const [project] = projects
  const environment = project ? await filledIn(held, project.id) : ENVIRONMENT
  const place = project && { workspaceId, projectId: project.id, environment }
  const stored = place ? await secretsCommands.list(held, place) : []
  const usable = everyAgent.filter(
    ({ projectId }) => projectId === null || projectId === project?.id,
  )
  return {
    project: project ? { id: project.id, name: project.name } : null,
    environment,
    secret: stored[0]?.key ?? null,
    host: entries[0]?.domain ?? null,
    agent: usable[0] ?? null,
  }
}

/** The environment that has secrets: the usual one, or else the first. */
async function filledIn({ api }: HeldKeys, project_id: string): Promise<string> {
  const { environments } = await api.call(listEnvironments, { params: { project_id } })
  const filled = Object.entries(environments).flatMap(([name, { secret_count }]) =>
    secret_count > 0 ? name : [],
  )
  return filled.includes(ENVIRONMENT) ? ENVIRONMENT : (filled[0] ?? ENVIRONMENT)
}
