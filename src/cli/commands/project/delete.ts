import { removeProject } from '../../../client/actions/end_tokens.ts'
import { listProjectAgents, listWorkloadTokens } from '../../../features/agents/contract.ts'
import { listEnvironments } from '../../../features/projects/contract.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { type WorkspaceScope, workspaceScope } from '../../scope.ts'
import { findProject } from '../../teams/projects.ts'
import { formatCounts, requireConfirmation } from '../../terminal/confirmed.ts'
import { endTokensIn } from '../../tokens/revoking.ts'

export default command({
  usage: 'delete <project>',
  examples: ['project delete payments --yes'],
  options: [yes],
  action: async (context, [name], options) => {
    const scope = await workspaceScope(context)
    const project = await findProject(scope, name)
    await requireConfirmation(context.host, options, async () => {
      const lost = await lossOf(scope, project)
      return `Delete ${project.name}${lost}? An admin can restore the project and its secrets for 7 days, but not agents and tokens.`
    })
    await removeProject(endTokensIn(context, scope), project.id)
    scope.session.knownNames.forget(project.id)
    context.output.done(
      `Deleted ${project.name}; for 7 days: cloakroom project restore ${project.name}`,
      { deleted: project.name, id: project.id },
    )
  },
})

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
  const lost = formatCounts(counts).replace(
    / (secrets?)/,
    (_, word) => `${more} ${word} (${places.join(', ')})`,
  )
  return lost === '' ? '' : ` with ${lost}`
}
