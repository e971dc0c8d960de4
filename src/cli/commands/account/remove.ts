import { accountNamed } from '../../accounts/choice.ts'
import { endSession, noteWiped } from '../../accounts/exit.ts'
import { forgetAccount } from '../../accounts/registry.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { requireConfirmation } from '../../terminal/confirmed.ts'

export default command({
  usage: 'remove <account>',
  examples: ['account remove work', 'account remove work --yes'],
  options: [yes],
  action: async (context, [typed], options) => {
    const account = accountNamed(await context.accounts.registry(), typed)
    const { name, email, server } = account
    await requireConfirmation(
      context.host,
      options,
      `Sign out ${email} at ${server}, and forget its folders?`,
    )
    const wiped = await endSession(context, account)
    forgetAccount(context.env, account)
    context.output.done(`${name} is no longer on this machine.`, { removed: name })
    noteWiped(context, wiped)
  },
})
