import { changeOwnPassword } from '../../../client/actions/credentials.ts'
import { explainWrongPassword, readNewPassword, withPassword } from '../../accounts/passwords.ts'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { passwordStdin } from '../../options.ts'
import { readLinesFromStdin } from '../../terminal/prompts.ts'
import { strong } from '../../terminal/strong.ts'

export default command({
  usage: 'change',
  examples: ['password change', 'password change --password-stdin < old-and-new.txt'],
  options: [passwordStdin],
  action: async (context, _, options) => {
    const session = await context.session()
    if (options.passwordStdin) {
      const { current, replacement } = await readBoth(context, session.email)
      await explainWrongPassword(changeOwnPassword(session, current, replacement))
    } else {
      let replacement: string | undefined
      const replace = async (current: string) => {
        replacement ??= await readNewPassword(context, options, session.email, 'New password')
        return changeOwnPassword(session, current, replacement)
      }
      await withPassword(context, options, replace, 'Current password')
    }
    context.output.done(
      `The password of ${session.email} was changed; all other sessions have ended. Recovery key and passkeys are unchanged.`,
      { changed: 'password', email: session.email },
    )
  },
})

/** The first line is the present password, and the second the new one. */
async function readBoth({ host }: Context, email: string) {
  const [current = '', replacement = ''] = await readLinesFromStdin(host)
  return { current, replacement: await strong(replacement, 'password', [email]) }
}
