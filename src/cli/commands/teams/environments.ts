/** Environments of a project. */
import { listEnvironments } from '../../../features/projects/contract.ts'
import type { Action } from '../../command.ts'
import { projectScope } from '../../scope.ts'
import { remember } from './projects.ts'

export const list: Action = async (context) => {
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

export const use: Action = async (context, [environment = '']) => {
  remember(context, { environment })
  return undefined
}
