/** The scope of a command: the workspace with its key, the project and the environment. */
import { type EnvironmentPlace, type SecretsReading, secretsInput } from '../client/environment.ts'
import { type NameList, namesOfProjects, toDefaultProjectList } from '../client/known_names.ts'
import type { OpenWorkspace, WorkspacePlace } from '../client/workspace.ts'
import type { WorkspaceEntry } from '../client/workspaces.ts'
import { isUuid } from '../core/validation/validate.ts'
import { listProjects } from '../features/projects/contract.ts'
import { listSecrets } from '../features/secrets/contract.ts'
import { listWorkspacesEndpoint } from '../features/workspaces/contract.ts'
import { isSignedId } from '../sigchain/index.ts'
import type { Context } from './context.ts'
import { demandProjectFile } from './project_file.ts'
import { namesOfWorkspaces, toDefaultList } from './session/chosen.ts'
import type { Session } from './session/session.ts'
import { CliError } from './terminal/cli_error.ts'
import { demandKnown, requireKnown } from './trust/known_names.ts'

export type WorkspaceScope = {
  session: Session
  workspace: WorkspaceEntry & { open: OpenWorkspace }
}

export type ProjectScope = WorkspaceScope & {
  project: { id: string; name: string }
  environment: string
}

/** For the acts of `client/actions`. */
export function placeOf({ session, workspace }: WorkspaceScope): WorkspacePlace {
  return { api: session.api, workspace: workspace.open }
}

/** For commands that read and write its secrets. */
export function environmentOf(scope: ProjectScope): EnvironmentPlace {
  return { ...placeOf(scope), projectId: scope.project.id, environment: scope.environment }
}

/** @throws CliError without a session or there is no such workspace */
export async function workspaceScope(context: Context): Promise<WorkspaceScope> {
  demandProjectFile(context, 'workspace')
  return chooseWorkspace(context)
}

/** For commands that rewrite the project file, which may be invalid. @throws CliError */
export async function chooseWorkspace(context: Context): Promise<WorkspaceScope> {
  const session = await context.session()
  return { session, workspace: await session.workspace(context.settings.workspace?.value) }
}

/**
 * `reading` is how the command will list the environment's secrets, if it does.
 *
 * @throws CliError when no project is chosen, or there is no such project
 */
export async function projectScope(
  context: Context,
  reading?: SecretsReading,
): Promise<ProjectScope> {
  demandProjectFile(context, 'workspace')
  const session = await context.session()
  askForPlace(context, session, reading)
  const scope = await chooseWorkspace({ ...context, session: async () => session })
  const project = chooseProject(context, scope, await projectsOf(scope))
  return { ...scope, project, environment: context.setting('environment') }
}

/** Requests the last known IDs of the names in advance. The names are resolved as usual. */
function askForPlace({ settings }: Context, session: Session, reading?: SecretsReading): void {
  const { knownNames, askAhead, chains } = session
  const idOf = (typed: string | undefined, named: NameList, usual: NameList) =>
    typed !== undefined && isUuid(typed)
      ? typed
      : knownNames.idsOf(typed === undefined ? usual : named, typed ?? '')[0]
  askAhead(listWorkspacesEndpoint, {})
  const id = idOf(settings.workspace?.value, namesOfWorkspaces(session), toDefaultList(session))
  if (id === undefined) return
  askAhead(listProjects, { query: { workspace_id: id } })
  const projectId = idOf(
    settings.project?.value,
    namesOfProjects({ id }),
    toDefaultProjectList({ id }),
  )
  const environment = settings.environment?.value
  if (!reading || !projectId || !environment || !isSignedId(id)) return
  chains.readAhead({ id, name: knownNames.placesOf(id)[0]?.name ?? id })
  askAhead(listSecrets, secretsInput({ projectId, environment }, reading))
}

/** The one that is set, else the only one. @throws CliError */
export function chooseProject(
  context: Context,
  scope: WorkspaceScope,
  projects: Awaited<ReturnType<typeof projectsOf>>,
) {
  demandProjectFile(context, 'project')
  const named = context.settings.project?.value
  if (named !== undefined) return projectNamed(scope, projects, named)
  const [only, another] = projects
  if (only && !another) return requireUnchangedWorkspace(scope, only)
  throw new CliError(
    'not_found',
    'no project is chosen',
    'choose one with: cloakroom project use <project>, or create one with: cloakroom init <project>',
  )
}

/** The previous only workspace: the server may have replaced it. @throws CliError */
function requireUnchangedWorkspace<T extends { id: string }>(
  { session, workspace }: WorkspaceScope,
  only: T,
): T {
  const list = toDefaultProjectList(workspace)
  const meant = { id: only.id, name: '' }
  session.knownNames.learn(list, [meant])
  demandKnown(session.knownNames, list, meant, 'the only project')
  return only
}

/** By id, or by a name that is known. @throws CliError */
export function projectNamed(
  { session, workspace }: WorkspaceScope,
  projects: Awaited<ReturnType<typeof projectsOf>>,
  named: string,
) {
  return requireKnown(session.knownNames, namesOfProjects(workspace), projects, named, {
    what: 'project',
    where: `in ${workspace.name}`,
    list: 'project list',
  })
}

export async function projectsOf({ session, workspace }: WorkspaceScope) {
  const projects = await session.api.list(listProjects, { query: { workspace_id: workspace.id } })
  session.knownNames.learn(namesOfProjects(workspace), projects)
  return projects
}

/** Ids and names of the workspace's projects, for tables. */
export async function projectNames(scope: WorkspaceScope): Promise<Map<string, string>> {
  return new Map((await projectsOf(scope)).map(({ id, name }) => [id, name]))
}
