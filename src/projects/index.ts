/** Projects: the names under which secrets are kept. Who may do what follows the workspace's roles. */
import { type Change, recordChanges } from '../audit/record.ts'
import { authorise } from '../identity/authorise.ts'
import { isUniqueViolation } from '../kernel/db/errors.ts'
import type { Transaction } from '../kernel/db/open.ts'
import { lockWorkspace } from '../kernel/db/workspace_lock.ts'
import { Fault } from '../kernel/fault.ts'
import type { ProjectGrant } from '../kernel/grant.ts'
import { openPager } from '../kernel/page.ts'
import { type Route, route } from '../kernel/serve.ts'
import type { SliceServices } from '../kernel/slice.ts'
import {
  createProject,
  deleteProject,
  deleteProjectShort,
  getProject,
  getProjectShort,
  listProjects,
  updateProject,
  updateProjectShort,
} from './contract.ts'
import {
  deleteProjectAgents,
  deleteProjectGrants,
  deleteProjectRow,
  insertProject,
  type ProjectChanges,
  revokeProjectTokens,
  selectProject,
  selectProjects,
  updateProjectRow,
} from './queries.ts'

export function projectRoutes({ db, config }: SliceServices): Route[] {
  const pager = openPager(config)
  return [
    route(listProjects, async ({ caller, query, namedWorkspace }) => {
      if (namedWorkspace !== undefined)
        await authorise(db, caller, 'project.read', { workspaceId: namedWorkspace })
      const [name, id] = pager.start('projects', query.cursor) ?? []
      const after = name === undefined || id === undefined ? undefined : ([name, id] as const)
      const page = { workspaceId: namedWorkspace, after, limit: query.limit }
      const rows = await selectProjects(db, caller, page)
      return pager.cut(
        'projects',
        rows,
        query.limit,
        (row) => [row.name, row.id],
        (row) => row,
      )
    }),
    route(createProject, async ({ tx, grant, body: { name, description = '' } }) => {
      const projectId = await insertProject(tx, grant, { name, description })
      if (projectId === null) throw nameTaken()
      const project = { ...grant, projectId, projectName: name }
      await recordChanges(tx, grant, [change('project.created', project)])
      return show(tx, project)
    }),
    route(getProject, ({ tx, grant }) => show(tx, grant)),
    route(getProjectShort, ({ tx, grant }) => show(tx, grant)),
    route(updateProject, ({ tx, grant, body }) => update(tx, grant, body)),
    route(updateProjectShort, ({ tx, grant, body }) => update(tx, grant, body)),
    route(deleteProject, ({ tx, grant }) => remove(tx, grant)),
    route(deleteProjectShort, ({ tx, grant }) => remove(tx, grant)),
  ]
}

async function show(tx: Transaction, grant: ProjectGrant<'project.read' | 'project.write'>) {
  const project = await selectProject(tx, grant)
  if (!project) throw new Fault('not_found')
  return project
}

async function update(
  tx: Transaction,
  grant: ProjectGrant<'project.write'>,
  changes: ProjectChanges,
) {
  if (Object.keys(changes).length === 0) return show(tx, grant)
  try {
    await updateProjectRow(tx, grant, changes)
  } catch (error) {
    throw isUniqueViolation(error) ? nameTaken() : error
  }
  const project = { ...grant, projectName: changes.name ?? grant.projectName }
  await recordChanges(tx, grant, [change('project.updated', project)])
  return show(tx, grant)
}

/**
 * Deletes the project, its secrets and whatever could still ask for them. The lock keeps a token from
 * being provisioned for it at the same moment.
 */
async function remove(tx: Transaction, grant: ProjectGrant<'project.delete'>): Promise<undefined> {
  await lockWorkspace(tx, grant)
  await deleteProjectGrants(tx, grant)
  const revoked = await revokeProjectTokens(tx, grant)
  const deleted = await deleteProjectAgents(tx, grant)
  if (!(await deleteProjectRow(tx, grant))) throw new Fault('not_found')
  const { projectId } = grant
  await recordChanges(tx, grant, [
    ...revoked.map(
      (token): Change => ({
        action: 'token.revoked',
        resource: { type: 'token', ...token },
        projectId,
      }),
    ),
    ...deleted.map(
      (agent): Change => ({
        action: 'agent.deleted',
        resource: { type: 'agent', ...agent },
        projectId,
      }),
    ),
    change('project.deleted', grant),
  ])
}

function change(action: Change['action'], { projectId, projectName }: ProjectGrant): Change {
  return { action, resource: { type: 'project', id: projectId, name: projectName }, projectId }
}

function nameTaken(): Fault {
  return new Fault('already_exists', { message: 'The workspace has a project of that name.' })
}
