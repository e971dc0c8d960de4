/** Projects, and the project file that remembers one. */
import { join } from 'node:path'
import { removeProject } from '../../../client/actions/end_tokens.ts'
import { listProjectAgents, listWorkloadTokens } from '../../../features/agents/contract.ts'
import { listAuditLogs } from '../../../features/audit/contract.ts'
import {
  createProject,
  listEnvironments,
  restoreProject,
  updateProjectShort,
} from '../../../features/projects/contract.ts'
import { bindFolder } from '../../accounts/registry.ts'
import type { confirmOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import type { Context } from '../../context.ts'
import { demandReplaceable, demandRoom } from '../../files/replace.ts'
import {
  chosenWorkspace,
  namesOfProjects,
  projectNamed,
  projectsOf,
  type WorkspaceScope,
  workspaceScope,
} from '../../scope.ts'
import { findProjectFile, PROJECT_FILE, readProjectFile, updateFile } from '../../settings.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { confirmed, countedAll } from '../../terminal/confirmed.ts'
import { ID } from '../../terminal/table.ts'
import { endingIn } from '../../tokens/revoking.ts'
import { demandNew } from '../../trust/known_names.ts'
import { openTrustedFolders } from '../../trust/trusted_folders.ts'
import { demandSameProject } from './chosen_project.ts'

/** Makes or chooses a project for this directory and writes the project file. */
export const init: Action<typeof confirmOptions> = async (context, [name = ''], options) => {
  demandProjectFolder(context)
  const scope = await chosenWorkspace(context)
  const projects = await projectsOf(scope)
  await demandSameProject(context, name, projects, options)
  const known = projects.some((project) => project.name === name)
  const project = known ? projectNamed(scope, projects, name) : await create(scope, name)
  writeProjectFile(context, scope, project)
  context.output.done(
    `${known ? 'Using' : 'Created'} ${project.name}; ${PROJECT_FILE} holds names, ids and the server's address, and may be committed.`,
    { project: project.name, id: project.id, created: !known },
    project.id,
  )
  context.output.say('Next: cloakroom secrets set NAME=value')
  return undefined
}

/** The same with a project that exists: a mistyped name makes none. */
export const link: Action = async (context, [name = '']) => {
  const scope = await chosenWorkspace(context)
  const project = await findProject(scope, name)
  writeProjectFile(context, scope, project)
  context.output.done(`Using ${project.name} of ${scope.workspace.name} in this directory.`, {
    project: project.name,
    workspace: scope.workspace.name,
  })
  return undefined
}

/** Before a project is made for this folder. @throws CliError */
function demandProjectFolder({ cwd }: Context): void {
  const path = join(cwd, PROJECT_FILE)
  demandReplaceable(path)
  demandRoom(path, 1)
}

/** Here, with the server that was just talked to: so the folder is trusted with it, and is this account's. */
function writeProjectFile(
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

export const listAll: Action = async (context) => {
  const projects = await projectsOf(await workspaceScope(context))
  const columns = ['name', 'description', { field: 'workspace_name', title: 'workspace' }, ID]
  context.output.table(projects, columns)
  return undefined
}

export const createOne: Action = async (context, [name = '']) => {
  const project = await create(await workspaceScope(context), name)
  context.output.record({ id: project.id, name: project.name }, project.id)
  return undefined
}

export const use: Action = async (context, [name = '']) => {
  const scope = await chosenWorkspace(context)
  const project = await findProject(scope, name)
  remember(context, { workspace: scope.workspace.id, project: project.name })
  return undefined
}

export const remove: Action<typeof confirmOptions> = async (context, [name = ''], options) => {
  const scope = await workspaceScope(context)
  const project = await findProject(scope, name)
  await confirmed(context.host, options, async () => {
    const lost = await lossOf(scope, project)
    return `Delete ${project.name}${lost}? For 7 days an admin can restore project and secrets, not agents and tokens.`
  })
  await removeProject(endingIn(context, scope), project.id)
  scope.session.knownNames.forget(project.id)
  context.output.done(
    `Deleted ${project.name}; for 7 days: cloakroom project restore ${project.name}`,
    { deleted: project.name, id: project.id },
  )
  return undefined
}

/** ` with 12 secrets (development 4, production 8), 1 agent and 2 workload tokens`. */
async function lossOf({ session, workspace }: WorkspaceScope, { id }: { id: string }) {
  const params = { project_id: id }
  const [{ environments }, agents, tokens] = await Promise.all([
    session.api.call(listEnvironments, { params }),
    session.api.list(listProjectAgents, { params: { workspace_id: workspace.id, ...params } }),
    session.api.list(listWorkloadTokens, { params }),
  ])
  const held = Object.entries(environments).filter(([, { secret_count }]) => secret_count > 0)
  const places = held.map(
    ([name, { secret_count, has_more }]) => `${name} ${secret_count}${has_more ? '+' : ''}`,
  )
  const counts = {
    secret: held.reduce((sum, [, { secret_count }]) => sum + secret_count, 0),
    agent: agents.length,
    'workload token': tokens.filter(({ status }) => status === 'active').length,
  }
  const more = held.some(([, { has_more }]) => has_more) ? '+' : ''
  const lost = countedAll(counts).replace(
    / (secrets?)/,
    (_, word) => `${more} ${word} (${places.join(', ')})`,
  )
  return lost === '' ? '' : ` with ${lost}`
}

export const rename: Action = async (context, [named = '', name = '']) => {
  const scope = await workspaceScope(context)
  const project = await findProject(scope, named)
  await change(scope, project, { name })
  remembered(scope, { ...project, name })
  let here: string | null = null
  scope.session.writes.remember(() => {
    here = followRename(context, scope, { from: project.name, to: name })
  })
  context.output.done(
    `${project.name} is ${name} now.`,
    { id: project.id, project: name, renamed_from: project.name },
    project.id,
  )
  context.output.note(
    `${here === null ? '' : `${here} says so too. `}Other folders that use it need: cloakroom link ${name}`,
  )
  return undefined
}

/** The project file of this folder names the project: with the old name it would lead nowhere. */
function followRename(
  { cwd }: Context,
  { workspace }: WorkspaceScope,
  { from, to }: { from: string; to: string },
): string | null {
  const path = findProjectFile(cwd)
  if (path === null) return null
  const file = readProjectFile(path)
  if (file.project !== from || file.workspace !== workspace.id) return null
  updateFile(path, { project: to })
  return path
}

export const describe: Action = async (context, [named = '', description = '']) => {
  const scope = await workspaceScope(context)
  const project = await findProject(scope, named)
  await change(scope, project, { description })
  context.output.done(`Described ${project.name}.`, { id: project.id, description })
  return undefined
}

function change(
  { session }: WorkspaceScope,
  { id }: { id: string },
  body: { name?: string; description?: string },
) {
  return session.api.call(updateProjectShort, { params: { project: id }, body })
}

/** The audit knows which projects were deleted; nothing else does. */
export const restore: Action = async (context, [name = '']) => {
  const { session, workspace } = await workspaceScope(context)
  const query = { workspace_id: workspace.id, action: 'project.deleted', since: '7d' }
  const deletions = await session.api.list(listAuditLogs, { query })
  const found = deletions
    .map(({ resource }) => resource)
    .find((candidate) => candidate?.name === name || candidate?.id === name)
  if (!found?.id) {
    const hint = 'list them with: cloakroom audit list --action project.deleted --since 7d'
    throw new CliError('not_found', `no project ${name} was deleted in the last 7 days`, hint)
  }
  const params = { project_id: found.id }
  const project = await session.api.call(restoreProject, { params })
  context.output.done(`Restored ${project.name}; its agents and tokens stay deleted.`, {
    restored: project.name,
    id: project.id,
  })
  return undefined
}

/** Into the project file of this directory or above, or a new one here. */
export function remember(context: Context, changes: Parameters<typeof updateFile>[1]): void {
  const path = findProjectFile(context.cwd) ?? join(context.cwd, PROJECT_FILE)
  updateFile(path, changes)
  const told = Object.entries(changes)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${value}`)
  context.output.done(`Using ${told.join(', ')} (in ${path}).`, { ...changes, file: path })
}

/** By name or id. @throws CliError */
async function findProject(scope: WorkspaceScope, named: string) {
  return projectNamed(scope, await projectsOf(scope), named)
}

async function create(scope: WorkspaceScope, name: string) {
  const body = { name, workspace_id: scope.workspace.id }
  const project = await scope.session.api.call(createProject, { body })
  const made = { id: project.id, name }
  demandNew(scope.session.knownNames, namesOfProjects(scope.workspace), made)
  return remembered(scope, made)
}

/** What was named here is what the name stands for. */
function remembered<T extends { id: string; name: string }>(
  { session, workspace }: WorkspaceScope,
  project: T,
): T {
  session.knownNames.accept(namesOfProjects(workspace), project.name, [project.id])
  return project
}
