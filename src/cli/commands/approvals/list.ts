import {
  type ApprovalStatus,
  type CheckedApproval,
  readApprovals,
} from '../../../client/actions/approvals.ts'
import { approvalStatuses } from '../../../features/approvals/contract.ts'
import { callFacts } from '../../approvals/call_facts.ts'
import { command } from '../../command.ts'
import { placeOf, workspaceScope } from '../../scope.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { formatCount } from '../../terminal/confirmed.ts'

/** Unverified requests are hidden, because the server may have invented them. */
export default command({
  usage: 'list',
  examples: ['approvals list', 'approvals list --status used', 'approvals list --all --json'],
  options: [
    ['--status <status>', `${approvalStatuses.join(', ')} (default: pending and released)`],
    ['--all', 'list every status, and requests that fail verification with the reason'],
  ],
  action: async (context, _, options) => {
    const place = placeOf(await workspaceScope(context))
    const listed = await readApprovals(place, statusesOf(options))
    const isHidden = ({ fault }: CheckedApproval) => fault !== null && !options.all
    const shown = listed.filter((approval) => !isHidden(approval))
    const data = shown.map(({ request, fault, ...approval }) => ({
      ...approval,
      ...(request && callFacts(request)),
      verified: request !== null,
      fault,
    }))
    const columns = ['status', 'agent', 'method', 'host', 'secrets', 'requested_at', 'expires_at']
    const id = { field: 'id', whole: true } as const
    const last = options.all ? ['fault'] : []
    context.output.table(data.map(rowOf), [...columns, id, ...last], data, 'id')
    const hidden = listed.length - shown.length
    if (hidden > 0)
      context.output.warn(
        `${formatCount(hidden, 'request')} hidden because verification failed. See the reasons: cloakroom approvals list --all`,
      )
  },
})

function statusesOf(options: { status: string | undefined; all: boolean | undefined }) {
  if (options.status !== undefined) return [statusNamed(options.status)]
  const usual: ApprovalStatus[] = ['pending', 'released']
  return options.all ? null : usual
}

function statusNamed(text: string): ApprovalStatus {
  const status = approvalStatuses.find((known) => known === text)
  if (status) return status
  throw new CliError('usage', `--status is one of ${approvalStatuses.join(', ')}`)
}

type Listed = Omit<CheckedApproval, 'request'> & { verified: boolean }

/** Hosts that only the server names are marked. */
function rowOf({ secrets, host, verified, ...approval }: Listed) {
  const shown = verified ? host : `${host} (unverified)`
  return { ...approval, host: shown, secrets: secrets.map(({ key }) => key) }
}
