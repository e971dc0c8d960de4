/** Projects, and the project file that remembers one. */
import { join } from 'node:path'
import { namesOfProjects } from '../../client/known_names.ts'
import { createProject, updateProjectShort } from '../../features/projects/contract.ts'
import { bindFolder } from '../accounts/registry.ts'
import type { Context } from '../context.ts'
import { projectNamed, projectsOf, type WorkspaceScope } from '../scope.ts'
import { findProjectFile, PROJECT_FILE, updateFile } from '../settings.ts'
import { demandNew } from '../trust/known_names.ts'
import { openTrustedFolders } from '../trust/trusted_folders.ts'

/** Here, with the server that was just talked to: so the folder is trusted with it, and is this account's. */
export function writeProjectFile(
  context: Context,
  { session, workspace }: WorkspaceScope,
  project: { name: string },
): void {
  const { server } = session
  updateFile(join(context.cwd, PROJECT_FILE), {
    server,
    workspace: workspace.id,
    project: project.name,
    environment: context.settings.environment?.value,
  })
  openTrustedFolders(context.env).add(context.cwd, { server })
  bindFolder(context.env, context.cwd, session.choice.account)
}

export function changeProject(
  { session }: WorkspaceScope,
  { id }: { id: string },
  body: { name?: string; description?: string },
) {
  return session.api.call(updateProjectShort, { params: { project: id }, body })
}

/** Into the project file of this directory or above, or a new one here. */
export function remember(context: Context, changes: Parameters<typeof updateFile>[1]): void {
  const path = findProjectFile(context.cwd) ?? join(context.cwd, PROJECT_FILE)
  updateFile(path, changes)
  const chosen = Object.entries(changes)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${value}`)
  context.output.done(`Using ${chosen.join(', ')} (in ${path}).`, { ...changes, file: path })
}

/** By name or id. @throws CliError */
export async function findProject(scope: WorkspaceScope, named: string) {
  return projectNamed(scope, await projectsOf(scope), named)
}

export async function create(scope: WorkspaceScope, name: string) {
  const body = { name, workspace_id: scope.workspace.id }
  const project = await scope.session.api.call(createProject, { body })
  const made = { id: project.id, name }
  demandNew(scope.session.knownNames, namesOfProjects(scope.workspace), made)
  return rememberProject(scope, made)
}

/** Pins the project's name to its ID. */
export function rememberProject<T extends { id: string; name: string }>(
  { session, workspace }: WorkspaceScope,
  project: T,
): T {
  session.knownNames.accept(namesOfProjects(workspace), project.name, [project.id])
  return project
}
