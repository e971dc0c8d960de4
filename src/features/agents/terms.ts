/**
 * What a token is issued for: what its order says, or in a signed workspace what its grant says, beside which
 * an order may say the same and nothing else.
 */
import type { Capability } from '../../platform/capability.ts'
import { environment as environmentName } from '../../platform/http/fields.ts'
import type { TokenGrant } from '../../sigchain/index.ts'
import { refused } from '../statements/index.ts'
import {
  LABEL,
  LIFETIME_DAYS,
  label as labelText,
  MAX_LIFETIME_DAYS,
  type Order,
  USUAL,
} from './shapes.ts'
import type { Holder } from './token_queries.ts'

const DAY_MS = 86_400_000

export type Terms = {
  label: string
  environment: string | null
  capabilities: readonly Capability[]
  expiresInDays: number | null
  /** Where a grant says it; otherwise it is counted from now by the database's clock. */
  expiresAt?: Date | null
}

export function orderedTerms({ kind }: Holder, order: Order): Terms {
  return {
    label: order.label ?? LABEL,
    environment: order.environment ?? null,
    capabilities: order.capabilities ?? USUAL[kind],
    expiresInDays: order.expires_in_days === undefined ? LIFETIME_DAYS : order.expires_in_days,
  }
}

/** @throws Fault `link_refused` where the grant is for another holder, or says what no order may say */
export function grantedTerms(holder: Holder, order: Order, grant: TokenGrant, now: Date): Terms {
  const path = 'token.grant'
  const isOfHolder =
    grant.kind === holder.kind &&
    grant.agent_id === (holder.agent?.id ?? null) &&
    grant.project_id === holder.projectId
  if (!isOfHolder) throw refused(path, 'it is for another agent, project or kind of token')
  const expiresAt = grant.expires_at === null ? null : new Date(grant.expires_at)
  const expiresInDays = expiresAt && Math.max(1, Math.round((+expiresAt - +now) / DAY_MS))
  const { label, environment, capabilities } = grant
  const isSound =
    labelText.safeParse(label).data === label &&
    (environment === null || environmentName.safeParse(environment).success) &&
    (expiresInDays ?? 1) <= MAX_LIFETIME_DAYS
  if (!isSound) throw refused(path, 'a label, environment or time like this is not possible')
  const terms = { label, environment, capabilities, expiresInDays, expiresAt }
  const [other] = differences(order, terms)
  if (other !== undefined) throw refused(other, 'the grant says something else: leave it out')
  return terms
}

function differences(order: Order, { label, environment, capabilities, expiresInDays }: Terms) {
  const said = [
    ['label', order.label, label],
    ['environment', order.environment, environment],
    ['capabilities', order.capabilities?.join(), capabilities.join()],
    ['expires_in_days', order.expires_in_days, expiresInDays],
  ] as const
  return said.flatMap(([field, one, granted]) =>
    one === undefined || one === granted ? [] : [field],
  )
}
