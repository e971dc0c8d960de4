import { signedAllowlist } from '../../../client/signed/allowlist.ts'
import { listAllowlist } from '../../../features/allowlist/contract.ts'
import { isSignedId } from '../../../sigchain/index.ts'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { type WorkspaceScope, workspaceScope } from '../../scope.ts'

export default command({
  usage: 'list',
  examples: ['allowlist list'],
  action: async (context) => {
    const { session, workspace } = await workspaceScope(context)
    const read = () => session.api.list(listAllowlist, { params: { workspace_id: workspace.id } })
    const entries = isSignedId(workspace.id)
      ? await signedEntries(context, { session, workspace }, read)
      : await read()
    context.output.table(entries, [
      'domain',
      { field: 'added_by_email', title: 'added by' },
      'added_at',
    ])
  },
})

/** As they were signed, with a warning where the server's list says otherwise. */
async function signedEntries(
  { output }: Context,
  { session, workspace }: WorkspaceScope,
  read: () => Promise<readonly { domain: string }[]>,
) {
  const { entries, unsigned, leftOut } = await signedAllowlist(session.chains, workspace, read)
  for (const [what, domains] of [
    ['lists, and nobody signed (no call goes there)', unsigned],
    ['leaves out, and members signed (agents reach it)', leftOut],
  ] as const) {
    if (domains.length > 0) output.warn(`The server ${what}: ${domains.join(', ')}`)
  }
  return entries.map(({ domain, by, at }) => ({ domain, added_by_email: by, added_at: at }))
}
