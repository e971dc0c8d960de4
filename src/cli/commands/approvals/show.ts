import { openHeldValues } from '../../../client/approvals/verify.ts'
import { readRequest, screenLines } from '../../approvals/deciding.ts'
import { requestNamed } from '../../approvals/named_request.ts'
import { requestData } from '../../approvals/shown_request.ts'
import { command } from '../../command.ts'
import { placeOf, workspaceScope } from '../../scope.ts'
import { CliError } from '../../terminal/cli_error.ts'

/** Opens the held values, too, which proves the policies that the request is judged by. */
export default command({
  usage: 'show <request>',
  examples: ['approvals show 9f6b7d10', 'approvals show 9f6b7d10 --body'],
  options: [['--body', 'print only the body of the call']],
  action: async (context, [typed], options) => {
    const scope = await workspaceScope(context)
    const request = await readRequest(scope, await requestNamed(placeOf(scope), typed, null))
    for (const { value } of await openHeldValues(placeOf(scope), request)) value.reveal().fill(0)
    const { output } = context
    if (options.body) {
      if (request.body === null)
        throw new CliError('failed', 'The body is not text or exceeds 64 KiB.')
      output.raw(request.body)
    } else if (output.isJson || output.isQuiet) {
      output.record(requestData(request), request.approval.id)
    } else {
      output.say(...(await screenLines(context, scope, request)))
    }
  },
})
