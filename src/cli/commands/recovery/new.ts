import { renewRecoveryKey } from '../../../client/actions/credentials.ts'
import { showRecoveryKey, withPassword } from '../../accounts/passwords.ts'
import { command } from '../../command.ts'
import { passwordStdin } from '../../options.ts'

export default command({
  usage: 'new',
  examples: ['recovery new'],
  options: [passwordStdin],
  action: async (context, _, options) => {
    const session = await context.session()
    const recoveryKey = await withPassword(context, options, (password) =>
      renewRecoveryKey(session, password),
    )
    context.output.done('The previous recovery key no longer works.', {
      recovery_key: recoveryKey,
    })
    showRecoveryKey(context, recoveryKey)
  },
})
