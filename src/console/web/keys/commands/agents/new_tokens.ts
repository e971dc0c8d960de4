/**
 * Creating a token for an agent or a workload. The new token stays in this worker until the user dismisses it or the keys
 * lock. The server never receives it.
 */
import {
  issueToAgent,
  issueToWorkload,
  registerWithToken,
} from '../../../../../client/actions/issue_token.ts'
import type { TokenOrder } from '../../../../../client/agents/tokens.ts'
import type { WorkspacePlace } from '../../../../../client/workspace.ts'
import type { TokenLimits } from '../../../../../core/token_limits.ts'
import { LostAnswer } from '../../../lost_answer.ts'
import { Refused } from '../../failure.ts'
import { placeIn } from '../../places.ts'
import { placesIn } from '../../tokens.ts'
import type { UnlockedSession } from '../../unlocked_session.ts'

export const newTokenCommands = { issue, newToken: issueNewToken, forgetToken }

/** New tokens that the user has not dismissed yet, by session. */
const made = new WeakMap<object, Map<string, string>>()

/** The owner of a new token; null means every project or environment. */
type Holder =
  | { kind: 'agent'; name: string; projectId: string | null; environment: string | null }
  | { kind: 'further'; agentId: string; projectId: string | null; environment: string | null }
  | { kind: 'workload'; label: string; projectId: string; environment: string }

type Order = {
  workspaceId: string
  holder: Holder
  capabilities: NonNullable<TokenOrder['capabilities']>
  /** Null never expires. */
  days: number | null
  /** The label of a further token. */
  label?: string
  limits?: TokenLimits
}

/**
 * Returns the new token's id; `newToken` returns its text.
 *
 * @throws ApiError, UntrustedChain, Refused `lost_token` if the server may have made the token
 */
async function issue(session: UnlockedSession, order: Order) {
  const { workspaceId, holder, capabilities, days, label, limits } = order
  const issuing = await placeIn(session, workspaceId)
  const terms = {
    capabilities,
    expires_in_days: days,
    ...(label === undefined ? {} : { label }),
    ...(limits === undefined ? {} : { limits }),
  }
  const { id, text } = await issueTo(session, issuing, holder, terms).catch((error: unknown) => {
    throw error instanceof LostAnswer ? new Refused('lost_token') : error
  })
  const reader = session.reader()
  made.set(reader, (made.get(reader) ?? new Map()).set(id, text))
  return { id }
}

async function issueTo(
  session: UnlockedSession,
  issuing: WorkspacePlace,
  holder: Holder,
  order: TokenOrder,
) {
  const { environment, projectId } = holder
  if (holder.kind === 'workload') {
    const { label } = holder
    const place = { projectId: holder.projectId, environment: holder.environment }
    return issueToWorkload(issuing, place, { ...order, label })
  }
  const places = await placesIn(session, issuing.workspace.id, { projectId, environment })
  const terms = { environment, order, places }
  if (holder.kind === 'agent') return registerWithToken(issuing, holder, terms)
  return issueToAgent(issuing, { id: holder.agentId, project_id: projectId }, terms)
}

/** Returns the text of a new token. @throws Refused `not_found` */
async function issueNewToken(session: UnlockedSession, { id }: { id: string }) {
  const text = made.get(session.reader())?.get(id)
  if (text === undefined) throw new Refused('not_found')
  return text
}

/** Forgets a new token's text. Nobody can reveal it afterwards. */
async function forgetToken(session: UnlockedSession, { id }: { id: string }) {
  made.get(session.reader())?.delete(id)
}
