/** The first run of a workspace: what is there already, and one command that adds the rest. */
import { listEnvironments, listProjects } from '../../../../features/projects/contract.ts'
import type { HeldKeys } from '../held.ts'
import { agentsCommands } from './agents.ts'
import { allowlistCommands } from './allowlist.ts'
import { projectsCommands } from './projects.ts'
import { secretsCommands } from './secrets.ts'

export const firstStepsCommands = { progress, start }

type Of = { workspaceId: string }

/** The environment of the first secret. */
const ENVIRONMENT = 'development'
/** The name of the first project, which can be renamed. */
const PROJECT = 'my-project'
const DAYS = 90

/** The first of each. Everything is verified as elsewhere. @throws UntrustedChain */
async function progress(held: HeldKeys, { workspaceId }: Of) {
  const [projects, { entries }] = await Promise.all([
    held.api.list(listProjects, { query: { workspace_id: workspaceId } }),
    allowlistCommands.list(held, { workspaceId }),
  ])
  const [project] = projects
  const environment = project ? await usedEnvironment(held, project.id) : ENVIRONMENT
  const place = project && { workspaceId, projectId: project.id, environment }
  const stored = place ? await secretsCommands.list(held, place) : []
  return {
    project: project ? { id: project.id, name: project.name } : null,
    environment,
    secret: stored[0]?.key ?? null,
    host: entries[0]?.domain ?? null,
  }
}

/** The usual environment if it has secrets, or else the first that has. */
async function usedEnvironment({ api }: HeldKeys, project_id: string): Promise<string> {
  const { environments } = await api.call(listEnvironments, { params: { project_id } })
  const filled = Object.entries(environments).flatMap(([name, { secret_count }]) =>
    secret_count > 0 ? name : [],
  )
  return filled.includes(ENVIRONMENT) ? ENVIRONMENT : (filled[0] ?? ENVIRONMENT)
}

type Start = Of & {
  /** Null if there is one. */
  secret: { key: string; value: string } | null
  host: string | null
  /** The agent's name: it is registered, or gets a further token. */
  agent: string
}

/**
 * Adds what is missing, and a token. What was added before a failure stays, and is not added again.
 *
 * @returns the token's ID
 */
async function start(held: HeldKeys, { workspaceId, secret, host, agent: name }: Start) {
  const { environment, ...there } = await progress(held, { workspaceId })
  const project =
    there.project ?? (await projectsCommands.create(held, { workspaceId, name: PROJECT }))
  const projectId = project.id
  if (host !== null) await allowlistCommands.add(held, { workspaceId, domain: host })
  if (secret !== null && there.secret !== secret.key) {
    const typed = { ...secret, expectedVersion: 0, isSetting: false }
    await secretsCommands.save(held, { workspaceId, projectId, environment, ...typed })
  }
  const agents = await agentsCommands.list(held, { workspaceId })
  const agent = agents.find((one) => one.name === name && one.projectId === projectId)
  const holder = agent
    ? ({ kind: 'further', agentId: agent.id, projectId, environment } as const)
    : ({ kind: 'agent', name, projectId, environment } as const)
  return agentsCommands.issue(held, {
    ...{ workspaceId, holder, capabilities: ['use'], days: DAYS },
    ...(agent ? { label: 'first-run' } : {}),
  })
}
