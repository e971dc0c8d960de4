import { issueToAgent } from '../../../client/agents/issuing.ts'
import { command } from '../../command.ts'
import { narrowingOptions, save, tokenOptions } from '../../options.ts'
import { tokenScope } from '../../suggestions.ts'
import { handOut } from '../../tokens/agent_tokens.ts'
import { agentNamed, demandUsable } from '../../tokens/agents.ts'
import { narrowedBy, orderOf } from '../../tokens/issued_token.ts'
import { demandKnown } from '../../tokens/known_narrowing.ts'

export default command({
  usage: 'issue <agent>',
  examples: ['token issue deploy-bot -e staging', 'token issue build-bot --may use,read'],
  options: [
    save,
    ...narrowingOptions,
    ['--allow-unknown', 'accept a host or secret that does not exist'],
    ...tokenOptions,
  ],
  action: async (context, [name], options) => {
    const order = { ...orderOf(options), ...narrowedBy(options) }
    const scope = await tokenScope(context)
    const { session, workspace, project, environment } = scope
    const agent = await agentNamed(context, scope, name)
    demandUsable(scope, agent, project)
    if (!options.allowUnknown) await demandKnown(scope, order)
    const issued = await issueToAgent({ api: session.api, workspace: workspace.open }, agent, {
      environment,
      order,
      places: [{ projectId: project.id, environment }],
    })
    const grants = [`${project.name}/${environment}`]
    const bound = agent.project_id === null ? 'all' : project.name
    const { id, capabilities: may } = issued
    const about = { agent: agent.name, project: bound, id, may, grants, ...narrowedBy(options) }
    await handOut(context, session, { agent, token: issued.text, about }, options)
  },
})
