import { readAllowlist } from '../../../client/actions/allowlist.ts'
import { command } from '../../command.ts'
import { placeOf, workspaceScope } from '../../scope.ts'

/** As they were signed, with a warning where the server's list says otherwise. */
export default command({
  usage: 'list',
  examples: ['allowlist list'],
  action: async (context) => {
    const place = placeOf(await workspaceScope(context))
    const { entries, unsigned, leftOut } = await readAllowlist(place)
    for (const [what, domains] of [
      ['lists, and nobody signed (no call goes there)', unsigned],
      ['leaves out, and members signed (agents reach it)', leftOut],
    ] as const) {
      if (domains.length > 0) context.output.warn(`The server ${what}: ${domains.join(', ')}`)
    }
    const rows = entries.map((entry) => ({ ...entry, seq: undefined }))
    context.output.table(rows, [
      'domain',
      { field: 'added_by_email', title: 'added by' },
      'added_at',
    ])
  },
})
