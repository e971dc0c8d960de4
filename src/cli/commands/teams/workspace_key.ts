/** The key of a workspace: a new one for everything, and accepting one that others see. */

import { endedByRekey, renewWorkspaceKey } from '../../../client/actions/rekey.ts'
import { UntrustedChain } from '../../../client/signed/chain.ts'
import { keyFingerprint, knownKeyOf } from '../../../client/workspace_key.ts'
import type { confirmOptions, rekeyOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import { placeOf, type WorkspaceScope, workspaceScope } from '../../scope.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { confirmed, counted } from '../../terminal/confirmed.ts'
import { checkKnownKeys } from '../../trust/known_keys.ts'

export const rekeyAll: Action<typeof rekeyOptions> = async (context, _, options) => {
  const scope = await workspaceScope(context)
  const { session, workspace } = scope
  await confirmed(context.host, options, async () => {
    const ends = await endsOf(scope)
    return `Seal everything of ${workspace.name} under a new key? That ends for good what the old one opens: ${ends}.`
  })
  const work = renewWorkspaceKey(placeOf(scope), (listed) =>
    checkKnownKeys(context, session, listed, options.acceptChangedKeys ?? false),
  )
  const { next, left, ...counts } = await context.output.during('sealing everything anew', work)
  if (!next.chains) session.workspaceKeys.remember(next)
  const done = { epoch: next.epoch, ...counts, left }
  for (const { label, id, creator, fingerprint, reason } of left) {
    const by = creator === null ? 'without a grant' : `which says it was granted by ${creator}`
    context.output.warn(`not carried over: ${label} (${id}), ${by}, ${fingerprint}: ${reason}`)
  }
  if (left.length > 0)
    context.output.note('what is still needed gets a new token: cloakroom token issue')
  context.output.done(
    `Epoch ${done.epoch}: ${counted(done.members, 'member')}, ${counted(done.tokens, 'token')} and ${counted(done.secrets, 'secret')} now use the new key; earlier versions and what could be undeleted are gone.`,
    done,
  )
  return undefined
}

async function endsOf({ session: { api }, workspace: { id } }: WorkspaceScope): Promise<string> {
  const ended = await endedByRekey(api, id)
  const changed = counted(ended.changed, 'secret')
  const deleted = counted(ended.deleted, 'deleted secret')
  return `earlier versions (of ${changed}), and restoring what was deleted (${deleted}, and projects)`
}

/** Shows what two members compare, and takes the key that the server has where it is not the known one. */
export const acceptKey: Action<typeof confirmOptions> = async (context, [named = ''], options) => {
  const session = await context.session()
  const { name, shown, fault } = await session.entry(named)
  // In a signed workspace its links say which key it is.
  if (fault instanceof UntrustedChain) throw fault
  if (!shown) {
    throw new CliError('unreadable_workspace', `the key of ${name} does not open with yours`)
  }
  const known = session.workspaceKeys.of(shown.id)
  const now = knownKeyOf(shown)
  const accepted = { workspace: name, epoch: now.epoch, fingerprint: await keyFingerprint(now) }
  if (!fault) {
    context.output.record(accepted, accepted.fingerprint)
    return undefined
  }
  if (known) context.output.warn(`known: epoch ${known.epoch}  ${await keyFingerprint(known)}`)
  context.output.warn(`shown: epoch ${now.epoch}  ${accepted.fingerprint}`)
  await confirmed(
    context.host,
    options,
    `Does another member of ${name} see the one that is shown? Accept it?`,
  )
  session.workspaceKeys.remember(shown)
  context.output.done(`The key of ${name} is accepted.`, accepted)
  return undefined
}
