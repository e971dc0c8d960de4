/** Environments of a project. */
import { removeEnvironment } from '../../../client/actions/end_tokens.ts'
import { readSecrets } from '../../../client/environment.ts'
import { createEnvironment, listEnvironments } from '../../../features/projects/contract.ts'
import type { confirmOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import { demandProjectFile } from '../../project_file.ts'
import { environmentOf, type ProjectScope, projectScope } from '../../scope.ts'
import { demandEnvironment } from '../../suggestions.ts'
import { confirmed, counted } from '../../terminal/confirmed.ts'
import { endingIn } from '../../tokens/revoking.ts'
import { deletedOf, undeleteOf } from '../secrets/remove.ts'
import { remember } from './projects.ts'

export const list: Action = async (context) => {
  const { session, project, environment } = await projectScope(context)
  const listed = await session.api.call(listEnvironments, { params: { project_id: project.id } })
  const rows = Object.entries(listed.environments).map(([name, { secret_count, has_more }]) => ({
    environment: name,
    secrets: has_more ? `${secret_count}+` : secret_count,
    current: name === environment ? 'yes' : '',
  }))
  context.output.table(rows, ['environment', 'secrets', 'current'], listed)
  return undefined
}

export const create: Action = async (context, [name = '']) => {
  const { session, project } = await projectScope(context)
  const params = { project_id: project.id }
  await session.api.call(createEnvironment, { params, body: { name } })
  context.output.done(`${project.name} has the environment ${name} now.`, { created: name }, name)
  return undefined
}

export const remove: Action<typeof confirmOptions> = async (context, [name = ''], options) => {
  const scope = { ...(await projectScope(context)), environment: name }
  const { project } = scope
  await demandEnvironment(scope)
  const held = await heldIn(scope)
  const before = await deletedOf(scope)
  await confirmed(
    context.host,
    options,
    `Delete ${name} from ${project.name}${lossOf(held)}? For 7 days secrets can be restored; tokens of ${name} alone are revoked.`,
  )
  const place = { projectId: project.id, environment: name }
  const { secrets, tokens } = await removeEnvironment(endingIn(context, scope), place)
  // What was deleted on purpose before is not to come back with them.
  const names = before.length > 0 ? held : ['--all']
  const back = secrets > 0 ? `; for 7 days: ${undeleteOf(names, name)}` : ''
  context.output.done(
    `Deleted ${name} with ${counted(secrets, 'secret')}, and revoked ${counted(tokens, 'token')}${back}`,
    { deleted: name, secrets, tokens },
  )
  return undefined
}

/** Names that a question shows. */
const MAX_NAMES = 10

async function heldIn(scope: ProjectScope): Promise<string[]> {
  const held = await readSecrets(environmentOf(scope))
  return held.map(({ key }) => key)
}

function lossOf(held: readonly string[]): string {
  if (held.length === 0) return ''
  const names = held.slice(0, MAX_NAMES)
  const others = held.length > MAX_NAMES ? ', …' : ''
  return ` with ${counted(held.length, 'secret')} (${names.join(', ')}${others})`
}

/** A mistyped name would empty every later command of this directory; --yes asks no server. */
export const use: Action<typeof confirmOptions> = async (context, [environment = ''], { yes }) => {
  demandProjectFile(context)
  if (!yes) {
    const scope = { ...(await projectScope(context)), environment }
    await demandEnvironment(scope, `add --yes to use ${environment} before it exists`)
  }
  remember(context, { environment })
  return undefined
}
