import { registerWithToken } from '../../../client/actions/issue_token.ts'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { save, tokenOptions } from '../../options.ts'
import { placeOf, type WorkspaceScope, workspaceScope } from '../../scope.ts'
import { tokenScope } from '../../suggestions.ts'
import { handOut } from '../../tokens/agent_tokens.ts'
import { explainTakenName, rememberAgent } from '../../tokens/agents.ts'
import { checkActorName, orderOf } from '../../tokens/issued_token.ts'

/** For the chosen project and environment, or with --all-projects for the whole workspace. */
export default command({
  usage: 'create <name>',
  names: 'agent',
  examples: [
    'agent create deploy-bot --save',
    'agent create deploy-bot',
    'agent create ops-bot --all-projects --expires-in-days 30',
  ],
  options: [
    save,
    ['--all-projects', 'create a workspace token without grants; add them with token grant'],
    ...tokenOptions,
  ],
  action: async (context, [name], options) => {
    checkActorName(name)
    const order = orderOf(options)
    if (options.allProjects) {
      const scope = await workspaceScope(context)
      const forAll = { environment: null, order, places: [] }
      await register(context, scope, { name, projectId: null }, { ...forAll, grants: [] }, options)
      context.output.note('it has no grants yet; add one with: cloakroom token grant')
      return
    }
    const { project, environment, ...scope } = await tokenScope(context)
    const places = [{ projectId: project.id, environment }]
    const terms = { environment, order, places, grants: [`${project.name}/${environment}`] }
    await register(context, scope, { name, projectId: project.id }, terms, options)
  },
})

type NewTerms = Parameters<typeof registerWithToken>[2] & { grants: string[] }

async function register(
  context: Context,
  scope: WorkspaceScope,
  { name, projectId }: { name: string; projectId: string | null },
  { grants, ...terms }: NewTerms,
  options: { save: boolean | undefined },
): Promise<void> {
  const { session } = scope
  const registering = registerWithToken(placeOf(scope), { name, projectId }, terms)
  const { agent, capabilities, text } = await explainTakenName(scope, name, registering)
  rememberAgent(scope, { ...agent, name, project_id: projectId })
  const about = { agent: agent.name, id: agent.id, may: capabilities, grants }
  await handOut(context, session, { agent, token: text, about }, options)
}
