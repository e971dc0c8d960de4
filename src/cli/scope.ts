/** Where a command works: the workspace with its key, the project and the environment. */
import type { OpenWorkspace } from '../client/vault.ts'
import { listProjects } from '../features/projects/contract.ts'
import { EX_NOT_FOUND } from '../platform/exit_codes.ts'
import type { Context } from './context.ts'
import type { Session, WorkspaceEntry } from './session.ts'
import { CliError } from './terminal/cli_error.ts'

export type WorkspaceScope = {
  session: Session
  workspace: WorkspaceEntry & { open: OpenWorkspace }
}

export type ProjectScope = WorkspaceScope & {
  project: { id: string; name: string }
  environment: string
}

/** @throws CliError without a session or there is no such workspace */
export async function workspaceScope(context: Context): Promise<WorkspaceScope> {
  const session = await context.session()
  return { session, workspace: await session.workspace(context.settings.workspace?.value) }
}

/** @throws CliError when no project is chosen, or there is no such project */
export async function projectScope(context: Context): Promise<ProjectScope> {
  const scope = await workspaceScope(context)
  const named = context.settings.project?.value
  const projects = await projectsOf(scope)
  const found =
    named === undefined
      ? only(projects)
      : projects.find(({ id, name }) => id === named || name === named)
  if (found) return { ...scope, project: found, environment: context.setting('environment') }
  const hint = 'choose one with: cloakroom project use <name>, or make one with: cloakroom init'
  throw new CliError(
    EX_NOT_FOUND,
    named ? `there is no project ${named} in ${scope.workspace.name}` : 'no project is chosen',
    hint,
  )
}

export function projectsOf({ session, workspace }: WorkspaceScope) {
  return session.api.list(listProjects, { query: { workspace_id: workspace.id } })
}

function only<T>(all: readonly T[]): T | undefined {
  return all.length === 1 ? all[0] : undefined
}
