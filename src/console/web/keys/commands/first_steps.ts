/** How far somebody is on the way to the first call of an agent: what there is of each thing that it takes. */
import { listProjects } from '../../../../features/projects/contract.ts'
import type { Held } from '../held.ts'
import * as agents from './agents.ts'
import * as allowlist from './allowlist.ts'
import * as secrets from './secrets.ts'

type Of = { workspaceId: string }

/** Where the first secret goes. */
const ENVIRONMENT = 'development'

/** The first of each; what is verified elsewhere is verified here too. @throws UntrustedChain */
export async function progress(held: Held, { workspaceId }: Of) {
  const [projects, { entries }, everyAgent] = await Promise.all([
    held.api.list(listProjects, { query: { workspace_id: workspaceId } }),
    allowlist.list(held, { workspaceId }),
    agents.list(held, { workspaceId }),
  ])
  const [project] = projects
  const place = project && { workspaceId, projectId: project.id, environment: ENVIRONMENT }
  const stored = place ? await secrets.list(held, place) : []
  const usable = everyAgent.filter(
    ({ projectId }) => projectId === null || projectId === project?.id,
  )
  return {
    project: project ? { id: project.id, name: project.name } : null,
    environment: ENVIRONMENT,
    secret: stored[0]?.key ?? null,
    host: entries[0]?.domain ?? null,
    agent: usable[0] ?? null,
  }
}
