import { UntrustedChain } from '../../../client/signed/chain.ts'
import { keyFingerprint, knownKeyOf } from '../../../client/workspace_key.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { requireConfirmation } from '../../terminal/confirmed.ts'

/** Shows the fingerprint that two members compare, and accepts the server's key if it differs from the known one. */
export default command({
  usage: 'accept-key <workspace>',
  examples: ['workspace accept-key acme'],
  options: [yes],
  action: async (context, [named], options) => {
    const session = await context.session()
    const { name, shown, fault } = await session.entry(named)
    // In a signed workspace its links say which key it is.
    if (fault instanceof UntrustedChain) throw fault
    if (!shown) {
      throw new CliError(
        'unreadable_workspace',
        `the key of ${name} cannot be decrypted with your private key`,
      )
    }
    const known = session.workspaceKeys.of(shown.id)
    const now = knownKeyOf(shown)
    const accepted = { workspace: name, epoch: now.epoch, fingerprint: await keyFingerprint(now) }
    if (!fault) {
      context.output.record(accepted, accepted.fingerprint)
      return
    }
    if (known) context.output.warn(`known: epoch ${known.epoch}  ${await keyFingerprint(known)}`)
    context.output.warn(`shown: epoch ${now.epoch}  ${accepted.fingerprint}`)
    await requireConfirmation(
      context.host,
      options,
      `Does another member of ${name} see the same fingerprint? Accept it?`,
    )
    session.workspaceKeys.remember(shown)
    context.output.done(`Accepted the key of ${name}.`, accepted)
  },
})
