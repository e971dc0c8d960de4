import { allowQuestion } from '../../approvals/call_facts.ts'
import { allowRequest, personRequired, readRequest, showRequest } from '../../approvals/deciding.ts'
import { requestNamed } from '../../approvals/named_request.ts'
import { windowFor, windowQuestion } from '../../approvals/window.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { placeOf, workspaceScope } from '../../scope.ts'
import { confirmOrThrow } from '../../terminal/confirmed.ts'

export default command({
  usage: 'allow <request>',
  examples: [
    'approvals allow 9f6b7d10',
    'approvals allow 9f6b7d10 --for 15m --path /v1/charges --method GET,POST',
  ],
  options: [
    ['--for <time>', 'also allow later calls to this host for this time: 15m, 1h'],
    ['--path <prefix>', 'with --for: path prefix of later calls (default: the path of this call)'],
    [
      '--method <method...>',
      'with --for: methods of later calls (default: the method of this call)',
    ],
    yes,
  ],
  action: async (context, [typed], options) => {
    const scope = await workspaceScope(context)
    const id = await requestNamed(placeOf(scope), typed, ['pending'])
    const request = await readRequest(scope, id)
    const window = windowFor(request, options)
    await showRequest(context, scope, request, window)
    const question = window ? windowQuestion(window) : allowQuestion(request)
    await confirmOrThrow(context.host, options.yes === true, question, personRequired())
    await allowRequest(context, scope, request, window)
  },
})
