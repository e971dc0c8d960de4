import { signDecline } from '../../../client/signed/own_removal.ts'
import { declineInvitation } from '../../../features/workspaces/contract.ts'
import { command } from '../../command.ts'
import { invitation } from '../../teams/workspaces.ts'

export default command({
  usage: 'decline <workspace>',
  examples: ['workspace decline acme'],
  action: async (context, [named]) => {
    const { session, found } = await invitation(context, named)
    const { name, id } = found
    const { chains, identity } = session
    await signDecline({ chains, workspace: found, identity }, (link) =>
      session.api.call(declineInvitation, { params: { workspace_id: id }, body: { link } }),
    )
    context.output.done(`Declined ${name}.`, { declined: name, id })
  },
})
