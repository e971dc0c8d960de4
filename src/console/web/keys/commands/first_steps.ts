/** The first run of a workspace: reads what exists, and adds the rest in one command. */
import { listEnvironments, listProjects } from '../../../../features/projects/contract.ts'
import type { UnlockedSession } from '../unlocked_session.ts'
import { agentsCommands } from './agents/index.ts'
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

/** Returns the first project, secret and host. @throws UntrustedChain */
async function progress(session: UnlockedSession, { workspaceId }: Of) {
  const [projects, { entries }] = await Promise.all([
    session.api.list(listProjects, { query: { workspace_id: workspaceId } }),
    allowlistCommands.list(session, { workspaceId }),
  ])
  const [project] = projects
  const environment = project ? await chooseUsedEnvironment(session, project.id) : ENVIRONMENT
  const place = project && { workspaceId, projectId: project.id, environment }
  const stored = place ? await secretsCommands.list(session, place) : []
  return {
    project: project ? { id: project.id, name: project.name } : null,
    environment,
    secret: stored[0]?.key ?? null,
    host: entries[0]?.domain ?? null,
  }
}

/** The usual environment if it has secrets, otherwise the first environment with secrets. */
async function chooseUsedEnvironment(
  { api }: UnlockedSession,
  project_id: string,
): Promise<string> {
  const { environments } = await api.call(listEnvironments, { params: { project_id } })
  const filled = Object.entries(environments).flatMap(([name, { secret_count }]) =>
    secret_count > 0 ? name : [],
  )
  return filled.includes(ENVIRONMENT) ? ENVIRONMENT : (filled[0] ?? ENVIRONMENT)
}

type Start = Of & {
  /** Null if the project already has a secret. */
  secret: { key: string; value: string } | null
  host: string | null
  /** The agent's name: it is registered, or gets a further token. */
  agent: string
}

/**
 * Adds the missing parts and a token. After a failure, a retry adds only the rest.
 *
 * @returns the token's ID
 */
async function start(session: UnlockedSession, { workspaceId, secret, host, agent: name }: Start) {
  const { environment, ...existing } = await progress(session, { workspaceId })
  const project =
    existing.project ?? (await projectsCommands.create(session, { workspaceId, name: PROJECT }))
  const projectId = project.id
  if (host !== null) await allowlistCommands.add(session, { workspaceId, domain: host })
  if (secret !== null && existing.secret !== secret.key) {
    const typed = { ...secret, expectedVersion: 0, isSetting: false }
    await secretsCommands.save(session, { workspaceId, projectId, environment, ...typed })
  }
  const agents = await agentsCommands.list(session, { workspaceId })
  const agent = agents.find((one) => one.name === name && one.projectId === projectId)
  const holder = agent
    ? ({ kind: 'further', agentId: agent.id, projectId, environment } as const)
    : ({ kind: 'agent', name, projectId, environment } as const)
  return agentsCommands.issue(session, {
    ...{ workspaceId, holder, capabilities: ['use'], days: DAYS },
    ...(agent ? { label: 'first-run' } : {}),
  })
}
