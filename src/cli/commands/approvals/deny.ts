import { denyApprovalRequest } from '../../../client/actions/approvals.ts'
import { requestNamed } from '../../approvals/named_request.ts'
import { command } from '../../command.ts'
import { placeOf, workspaceScope } from '../../scope.ts'
import { durationOf } from '../../terminal/moments.ts'

const MUTE = { option: '--mute', example: '1h', least: '1m', most: '24h' }

export default command({
  usage: 'deny <request>',
  examples: ['approvals deny 9f6b7d10', 'approvals deny 9f6b7d10 --mute 8h'],
  options: [
    [
      '--mute <time>',
      'also deny further requests of this token for these secrets for this time: 1h, 8h',
    ],
  ],
  action: async (context, [typed], options) => {
    const place = placeOf(await workspaceScope(context))
    const mute = options.mute === undefined ? undefined : durationOf(options.mute, MUTE) / 1000
    const id = await requestNamed(place, typed, ['pending'])
    await denyApprovalRequest(place, id, mute)
    const sentence = mute
      ? `Denied. Requests of this token for these secrets are denied for ${options.mute}.`
      : 'Denied. Identical calls are denied for one hour.'
    context.output.done(sentence, { denied: id, mute_seconds: mute ?? null })
  },
})
