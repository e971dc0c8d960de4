import { listEndedByRekey, renewWorkspaceKey } from '../../../client/actions/rekey.ts'
import { command } from '../../command.ts'
import { acceptChanged, yes } from '../../options.ts'
import { placeOf, type WorkspaceScope, workspaceScope } from '../../scope.ts'
import { formatCount, requireConfirmation } from '../../terminal/confirmed.ts'
import { checkKnownKeys } from '../../trust/known_keys.ts'

export default command({
  usage: 'rekey',
  examples: ['workspace rekey', 'workspace rekey --yes'],
  options: [acceptChanged, yes],
  action: async (context, _, options) => {
    const scope = await workspaceScope(context)
    const { session, workspace } = scope
    await requireConfirmation(context.host, options, async () => {
      const ends = await endsOf(scope)
      return `Seal everything of ${workspace.name} under a new key? This permanently deletes: ${ends}.`
    })
    const work = renewWorkspaceKey(placeOf(scope), (listed) =>
      checkKnownKeys(context, session, listed, options.acceptChangedKeys ?? false),
    )
    const { next, left, ...counts } = await context.output.during('sealing everything again', work)
    if (!next.chains) session.workspaceKeys.remember(next)
    const done = { epoch: next.epoch, ...counts, left }
    for (const { label, id, creator, fingerprint, reason } of left) {
      const by = creator === null ? 'without a grant' : `which claims to be granted by ${creator}`
      context.output.warn(`not carried over: ${label} (${id}), ${by}, ${fingerprint}: ${reason}`)
    }
    if (left.length > 0)
      context.output.note('create new tokens where needed: cloakroom token issue')
    context.output.done(
      `Epoch ${done.epoch}: ${formatCount(done.members, 'member')}, ${formatCount(done.tokens, 'token')} and ${formatCount(done.secrets, 'secret')} now use the new key. Earlier versions and deleted secrets can no longer be restored.`,
      done,
    )
  },
})

async function endsOf({ session: { api }, workspace: { id } }: WorkspaceScope): Promise<string> {
  const ended = await listEndedByRekey(api, id)
  const changed = formatCount(ended.changed, 'secret')
  const deleted = formatCount(ended.deleted, 'deleted secret')
  return `earlier versions (of ${changed}) and deleted items (${deleted}, and projects)`
}
