import { revokeApprovalRelease } from '../../../client/actions/approvals.ts'
import { requestNamed } from '../../approvals/named_request.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { placeOf, workspaceScope } from '../../scope.ts'
import { requireConfirmationOnTerminal } from '../../terminal/confirmed.ts'

export default command({
  usage: 'revoke <request>',
  examples: ['approvals revoke 9f6b7d10'],
  options: [yes],
  action: async (context, [typed], options) => {
    const place = placeOf(await workspaceScope(context))
    const id = await requestNamed(place, typed, ['released'])
    await requireConfirmationOnTerminal(context.host, options, `Revoke the approval ${id}?`)
    await revokeApprovalRelease(place, id)
    context.output.done('Revoked. The next call needs a new approval.', { revoked: id })
  },
})
