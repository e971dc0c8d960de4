/** Projects and their environments, and the project file that remembers both. */
import { join } from 'node:path'
import {
  createProject,
  deleteProjectShort,
  listEnvironments,
} from '../../features/projects/contract.ts'
import { EX_NOT_FOUND } from '../../platform/exit_codes.ts'
import type { confirmOptions } from '../catalogue/options.ts'
import type { Action } from '../command.ts'
import type { Context } from '../context.ts'
import { projectScope, projectsOf, type WorkspaceScope, workspaceScope } from '../scope.ts'
import { findProjectFile, PROJECT_FILE, updateFile } from '../settings.ts'
import { CliError } from '../terminal/cli_error.ts'
import { confirmed } from '../terminal/confirmed.ts'

/** Makes or chooses a project for this directory and writes the project file. */
export const init: Action = async (context, [name = '']) => {
  const scope = await workspaceScope(context)
  const known = (await projectsOf(scope)).find((project) => project.name === name)
  const project = known ?? (await create(scope, name))
  const path = join(context.cwd, PROJECT_FILE)
  updateFile(path, {
    server: context.setting('server'),
    workspace: scope.workspace.id,
    project: project.name,
    environment: context.setting('environment'),
  })
  context.output.say(
    `${known ? 'Using' : 'Created'} ${project.name}; ${PROJECT_FILE} holds names and ids only and may be committed.`,
  )
  context.output.say('Next: cloakroom secrets set NAME=value')
  return undefined
}

export const listAll: Action = async (context) => {
  const projects = await projectsOf(await workspaceScope(context))
  context.output.table(projects, ['name', 'description', 'workspace_name', 'id'])
  return undefined
}

export const createOne: Action = async (context, [name = '']) => {
  const project = await create(await workspaceScope(context), name)
  context.output.record({ id: project.id, name: project.name })
  return undefined
}

export const use: Action = async (context, [name = '']) => {
  const scope = await workspaceScope(context)
  const project = (await projectsOf(scope)).find(
    (candidate) => candidate.name === name || candidate.id === name,
  )
  if (!project)
    throw new CliError(
      EX_NOT_FOUND,
      `there is no project ${name}`,
      'list them with: cloakroom project list',
    )
  remember(context, { workspace: scope.workspace.id, project: project.name })
  return undefined
}

export const remove: Action<typeof confirmOptions> = async (context, [name = ''], options) => {
  const scope = await workspaceScope(context)
  const project = (await projectsOf(scope)).find(
    (candidate) => candidate.name === name || candidate.id === name,
  )
  if (!project)
    throw new CliError(
      EX_NOT_FOUND,
      `there is no project ${name}`,
      'list them with: cloakroom project list',
    )
  await confirmed(options, `Delete ${project.name} with all its secrets?`)
  await scope.session.api.call(deleteProjectShort, { params: { project: project.id } })
  context.output.say(`Deleted ${project.name}.`)
  return undefined
}

export const environments: Action = async (context) => {
  const { session, project, environment } = await projectScope(context)
  const listed = await session.api.call(listEnvironments, { params: { project_id: project.id } })
  const rows = Object.entries(listed.environments).map(([name, { secret_count }]) => ({
    environment: name,
    secrets: secret_count,
    current: name === environment ? 'yes' : '',
  }))
  context.output.table(rows, ['environment', 'secrets', 'current'], listed)
  return undefined
}

export const useEnvironment: Action = async (context, [environment = '']) => {
  remember(context, { environment })
  return undefined
}

/** Into the project file of this directory or above, or a new one here. */
export function remember(context: Context, changes: Parameters<typeof updateFile>[1]): void {
  const path = findProjectFile(context.cwd) ?? join(context.cwd, PROJECT_FILE)
  updateFile(path, changes)
  const told = Object.entries(changes).map(([name, value]) => `${name} ${value}`)
  context.output.say(`Using ${told.join(', ')} (in ${path}).`)
}

function create({ session, workspace }: WorkspaceScope, name: string) {
  return session.api.call(createProject, { body: { name, workspace_id: workspace.id } })
}
