/** `whoami`: the account or token that commands use. */
import { ownFingerprint } from '../../../client/account/account_keys.ts'
import { getMe } from '../../../features/accounts/contract.ts'
import { command } from '../../command.ts'
import { token } from '../../options.ts'
import { describeToken, tokenInstead } from '../../tokens/token_work.ts'

export default command({
  usage: 'whoami',
  examples: ['whoami', 'whoami --account work --json'],
  options: [token],
  action: async (context, _, options) => {
    const token = tokenInstead(context, options)
    if (token !== undefined) {
      context.output.record({
        ...(await describeToken(context, token)),
        server: await context.server(),
        resolver: await context.resolver(),
      })
      return
    }
    const session = await context.session()
    const me = await session.api.call(getMe, {})
    const { account, why } = session.choice
    const name = [me.first_name, me.last_name].filter(Boolean).join(' ')
    context.output.record({
      email: me.email,
      ...(name !== '' || context.output.isJson ? { name } : {}),
      id: me.id,
      account: account.name,
      because: why,
      server: session.server,
      fingerprint: await ownFingerprint(session),
    })
  },
})
