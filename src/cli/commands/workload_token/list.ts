import { limitsInWords } from '../../../client/agents/limits_in_words.ts'
import { command } from '../../command.ts'
import { projectScope } from '../../scope.ts'
import { workloadTokensOf } from '../../tokens/agent_tokens.ts'
import { tokenColumns } from '../../tokens/agents.ts'

export default command({
  usage: 'list',
  examples: ['workload-token list'],
  action: async (context) => {
    const tokens = await workloadTokensOf(await projectScope(context))
    const rows = tokens.map((token) => ({
      ...token,
      may: token.capabilities,
      limits: limitsInWords(token),
    }))
    context.output.table(rows, tokenColumns(tokens, 'environment'), tokens)
  },
})
