import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { workspaceScope } from '../../scope.ts'
import { agentsOf, namesOfAgents } from '../../tokens/agents.ts'
import { accept } from '../../trust/accept_name.ts'

export default command({
  usage: 'accept-name <agent>',
  examples: ['agent accept-name deploy-bot'],
  options: [yes],
  action: async (context, [typed], options) => {
    const scope = await workspaceScope(context)
    const all = await agentsOf(scope)
    const place = { what: 'agent', known: scope.session.knownNames }
    const names = namesOfAgents(scope.workspace)
    await accept(context, { ...place, names, all }, typed, options)
  },
})
