import { limitsInWords } from '../../../client/agents/limits_in_words.ts'
import { command } from '../../command.ts'
import { workspaceScope } from '../../scope.ts'
import { agentTokensOf } from '../../tokens/agent_tokens.ts'
import { agentNamed, tokenColumns } from '../../tokens/agents.ts'

export default command({
  usage: 'list <agent>',
  examples: ['token list deploy-bot'],
  action: async (context, [name]) => {
    const scope = await workspaceScope(context)
    const agent = await agentNamed(context, scope, name)
    const tokens = await agentTokensOf(scope, agent)
    const rows = tokens.map((token) => ({
      ...token,
      limits: limitsInWords(token),
      may: token.capabilities,
      grants: token.provisioned.map(({ environment }) => environment),
    }))
    context.output.table(rows, tokenColumns(tokens, 'grants'), tokens)
  },
})
