import { removeAccount } from '../../../client/actions/credentials.ts'
import { ApiError } from '../../../client/http/api.ts'
import { withPassword } from '../../accounts/passwords.ts'
import { forgetAccount } from '../../accounts/registry.ts'
import { command } from '../../command.ts'
import { forgetNames } from '../../completion/names.ts'
import { passwordStdin, yes } from '../../options.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { requireConfirmation } from '../../terminal/confirmed.ts'

/** Asks before it asks for the password; nothing of the account is left on this machine. */
export default command({
  usage: 'delete',
  examples: ['account delete', 'account delete --yes --password-stdin < password.txt'],
  options: [passwordStdin, yes],
  action: async (context, _, options) => {
    const session = await context.session()
    const { email, server, choice, store } = session
    await requireConfirmation(
      context.host,
      options,
      `Delete the account ${email} at ${server}, with its personal workspace and all secrets in it? This is permanent.`,
    )
    await withPassword(context, options, (password) => removeAccount(session, password)).catch(
      (error: unknown) => {
        throw explainStillMember(error)
      },
    )
    await store.clear()
    forgetAccount(context.env, choice.account)
    forgetNames(context.env)
    context.output.done(`The account ${email} at ${server} is deleted.`, { deleted: email, server })
  },
})

/** Leaving a signed workspace needs a signature. The server's error names these workspaces. */
function explainStillMember(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== 'conflict') return error
  const names = error.fields.map(({ message }) => message)
  if (names.length === 0) return error
  return new CliError(
    'still_member',
    `you are a member of signed workspaces: ${names.join(', ')}`,
    'leave each one: cloakroom workspace remove YOUR_EMAIL, or decline or delete it',
  )
}
