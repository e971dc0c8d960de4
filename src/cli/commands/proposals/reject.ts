import { closeProposed } from '../../../client/actions/proposals.ts'
import { command } from '../../command.ts'
import { proposalNamed } from '../../proposals/proposal.ts'
import { placeOf, workspaceScope } from '../../scope.ts'

export default command({
  usage: 'reject <proposal>',
  examples: ['proposals reject 9f6b7d10'],
  action: async (context, [typed]) => {
    const place = placeOf(await workspaceScope(context))
    const { id } = await proposalNamed(place, typed, true)
    await closeProposed(place, id, 'rejected')
    context.output.done('Rejected. Identical proposals stay rejected.', { rejected: id }, id)
  },
})
