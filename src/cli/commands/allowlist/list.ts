import { readAllowlist } from '../../../client/actions/allowlist.ts'
import { command } from '../../command.ts'
import { placeOf, workspaceScope } from '../../scope.ts'

/** The signed hosts, with a warning if the server's list differs. */
export default command({
  usage: 'list',
  examples: ['allowlist list'],
  action: async (context) => {
    const place = placeOf(await workspaceScope(context))
    const { entries, unsigned, leftOut } = await readAllowlist(place)
    for (const [what, domains] of [
      ['lists hosts that nobody signed (calls to them are blocked)', unsigned],
      ['hides hosts that members signed (agents can reach them)', leftOut],
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
