import { nowOf } from '../../approvals/deciding.ts'
import { command } from '../../command.ts'
import { proposalLines, proposalNamed } from '../../proposals/proposal.ts'
import { placeOf, workspaceScope } from '../../scope.ts'

export default command({
  usage: 'show <proposal>',
  examples: ['proposals show 9f6b7d10'],
  action: async (context, [typed]) => {
    const place = placeOf(await workspaceScope(context))
    const proposal = await proposalNamed(place, typed, false)
    const { output } = context
    if (output.isJson || output.isQuiet) output.record(proposal, proposal.id)
    else output.say(...proposalLines(proposal, nowOf(context)))
  },
})
