import { giveKeys } from '../../../client/actions/grant.ts'
import { command } from '../../command.ts'
import { type ProjectScope, placeOf, projectScope } from '../../scope.ts'
import { workloadTokensOf } from '../../tokens/agent_tokens.ts'
import { requireGrantedToken } from '../../tokens/agents.ts'

export default command({
  usage: 'grant <token>',
  examples: ['workload-token grant 0190…'],
  action: async (context, [typed]) => {
    const scope = await projectScope(context)
    const { project } = scope
    const token = await tokenOf(scope, typed)
    const environment = token.environment ?? ''
    const owner = { projectId: project.id }
    await giveKeys(placeOf(scope), owner, token, [{ ...owner, environment }])
    context.output.done(`The token can use ${project.name}/${environment}.`, {
      token_id: token.id,
      granted: `${project.name}/${environment}`,
    })
  },
})

async function tokenOf(scope: ProjectScope, typed: string) {
  const owner = { projectId: scope.project.id }
  return requireGrantedToken(
    scope,
    owner,
    await workloadTokensOf(scope),
    typed,
    'workload-token list',
  )
}
