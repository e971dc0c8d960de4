import { refuseInvitation } from '../../../client/actions/workspaces.ts'
import { command } from '../../command.ts'
import { invitation } from '../../teams/workspaces.ts'

export default command({
  usage: 'decline <workspace>',
  examples: ['workspace decline acme'],
  action: async (context, [named]) => {
    const { session, found } = await invitation(context, named)
    const { name, id } = found
    await refuseInvitation(session.api, found)
    context.output.done(`Declined ${name}.`, { declined: name, id })
  },
})
