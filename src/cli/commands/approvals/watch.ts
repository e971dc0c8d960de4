import { isBusy, readNewApprovals } from '../../../client/actions/approvals.ts'
import type { VerifiedRequest } from '../../../client/approvals/verify.ts'
import { ApiError } from '../../../client/http/api.ts'
import { printableJson } from '../../../core/printable.ts'
import { allowQuestion } from '../../approvals/call_facts.ts'
import { allowRequest, personRequired, showRequest } from '../../approvals/deciding.ts'
import { notifyDesktop } from '../../approvals/desktop_notice.ts'
import { discardKeys } from '../../approvals/discarded_keys.ts'
import { pollWaitMs } from '../../approvals/poll_wait.ts'
import { requestData } from '../../approvals/shown_request.ts'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { placeOf, type WorkspaceScope, workspaceScope } from '../../scope.ts'
import { explain } from '../../terminal/explain.ts'

/** Requests that were seen, of which the oldest are forgotten: they expire after 15 minutes. */
const MAX_SEEN = 10_000

/** Shows requests as they come until it is interrupted, and asks about each on a terminal. */
export default command({
  usage: 'watch',
  examples: ['approvals watch', 'approvals watch --once --json'],
  options: [
    ['--no-notify', 'do not show desktop notifications'],
    ['--once', 'exit after the first request'],
  ],
  action: async (context, _, options) => {
    const { hasTerminal } = await import('../../terminal/prompts.ts')
    if (!options.once && !hasTerminal(context.host)) throw personRequired()
    const scope = await workspaceScope(context)
    const seen = new Set<string>()
    context.output.note(`Waiting for requests in ${scope.workspace.name}. Press Ctrl-C to stop.`)
    for (let failures = 0; ; ) {
      const found = await readNewRequests(context, scope, seen)
      failures = found.error === null ? 0 : failures + 1
      if (found.hidden > 0)
        context.output.warn(`Requests hidden because verification failed: ${found.hidden}`)
      for (const request of found.requests) {
        await present(context, scope, request, options.notify !== false)
        if (options.once) return
      }
      await Bun.sleep(pollWaitMs(failures, found.error))
    }
  },
})

type Found = Awaited<ReturnType<typeof readNewApprovals>> & { error: unknown }

/** None while the server is busy or cannot be reached, with the error. */
async function readNewRequests(
  context: Context,
  scope: WorkspaceScope,
  seen: Set<string>,
): Promise<Found> {
  try {
    const found = await readNewApprovals(placeOf(scope), seen)
    for (const id of seen) if (seen.size > MAX_SEEN) seen.delete(id)
    return { ...found, error: null }
  } catch (error) {
    const isTransient = isBusy(error) || explain(error).code === 'unreachable'
    if (!isTransient) throw error
    const { message } = explain(error)
    context.output.warn(`${message.replace(/\.$/, '')}. Retrying.`)
    return { requests: [], hidden: 0, error }
  }
}

async function present(
  context: Context,
  scope: WorkspaceScope,
  request: VerifiedRequest,
  notifies: boolean,
): Promise<void> {
  const { output, host } = context
  const { approval, call } = request
  const isWatched = host.streams.stderr.isTTY === true
  if (isWatched) host.streams.stderr.write('\u0007')
  const text = `${call.method} ${new URL(call.target_url).host} with ${approval.secrets.map(({ key }) => key).join(', ')}`
  if (notifies && isWatched) notifyDesktop(host, `${approval.agent} asks for approval`, text)
  if (output.isJson) output.raw(`${printableJson(requestData(request))}\n`)
  else await showRequest(context, scope, request)
  const { askConfirmation, hasTerminal } = await import('../../terminal/prompts.ts')
  if (output.isJson) return
  if (!hasTerminal(host)) {
    output.warn(`Decide with: cloakroom approvals allow ${approval.id}`)
    return
  }
  try {
    await discardKeys(host)
    await decide(context, scope, request, (question) => askConfirmation(host, question))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // Someone else decided, or the request expired, during the prompt.
    output.warn(error.message)
  }
}

async function decide(
  context: Context,
  scope: WorkspaceScope,
  request: VerifiedRequest,
  ask: (question: string) => Promise<boolean>,
): Promise<void> {
  const { id } = request.approval
  const isSingle = request.call.body_sha256 !== null
  if (!isSingle) {
    context.output.warn(`Approve it for a time: cloakroom approvals allow ${id} --for 15m`)
  } else if (await ask(allowQuestion(request))) {
    await allowRequest(context, scope, request, null)
    return
  }
  if (!(await ask('Deny it for one hour?'))) return
  const { denyApprovalRequest } = await import('../../../client/actions/approvals.ts')
  await denyApprovalRequest(placeOf(scope), id)
  context.output.done('Denied. Identical calls are denied for one hour.', { denied: id })
}
