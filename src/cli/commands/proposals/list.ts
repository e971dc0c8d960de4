import { readProposals } from '../../../client/actions/proposals.ts'
import { proposalStatuses } from '../../../features/proposals/contract.ts'
import { command } from '../../command.ts'
import { placeOf, workspaceScope } from '../../scope.ts'
import { CliError } from '../../terminal/cli_error.ts'

export default command({
  usage: 'list',
  examples: ['proposals list', 'proposals list --status rejected --json'],
  options: [['--status <status>', `${proposalStatuses.join(', ')} or all (default: open)`]],
  action: async (context, _, options) => {
    const place = placeOf(await workspaceScope(context))
    const listed = await readProposals(place, statusOf(options.status ?? 'open'))
    const rows = listed.map(({ secrets, ...one }) => ({
      ...one,
      secrets: secrets.map(({ key }) => key),
    }))
    const id = { field: 'id', whole: true } as const
    const columns = ['status', 'agent', 'hosts', 'secrets', 'reason', 'expires_at', id]
    context.output.table(rows, columns, listed, 'id')
  },
})

function statusOf(text: string) {
  if (text === 'all') return null
  const status = proposalStatuses.find((known) => known === text)
  if (status) return status
  throw new CliError('usage', `--status is one of ${proposalStatuses.join(', ')} or all`)
}
