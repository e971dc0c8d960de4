/**
 * The terms of a token: from its order, or in a signed workspace from its grant, beside which
 * an order may say the same and nothing else.
 */
import type { Capability } from '../../core/capability.ts'
import { buildFieldFault } from '../../core/fault.ts'
import { limitNames, type TokenLimits } from '../../core/token_limits.ts'
import { environment as environmentName } from '../../http/fields.ts'
import { type Narrowing, readNarrowing, type TokenGrant } from '../../sigchain/index.ts'
import { buildRefusedFault } from '../statements/index.ts'
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
const USES_ONLY = 'narrowed and limited tokens can only use secrets: omit read'

export type OrderedTerms = {
  label: string
  environment: string | null
  capabilities: readonly Capability[]
  hosts: readonly string[] | null
  secrets: readonly string[] | null
  limits: TokenLimits | null
  expiresInDays: number | null
  /** From a grant; otherwise counted from now by the database's clock. */
  expiresAt?: Date | null
}

/** @throws Fault `validation_error` for a narrowed or limited token that reads values */
export function readOrderedTerms({ kind }: Holder, order: Order): OrderedTerms {
  const { hosts = null, secrets = null, limits = null } = order
  const capabilities = order.capabilities ?? USUAL[kind]
  if ((hosts || secrets || limits) && capabilities.includes('read'))
    throw buildFieldFault('capabilities', USES_ONLY)
  return {
    hosts,
    secrets,
    limits,
    label: order.label ?? LABEL,
    environment: order.environment ?? null,
    capabilities,
    expiresInDays: order.expires_in_days === undefined ? LIFETIME_DAYS : order.expires_in_days,
  }
}

/** @throws Fault `link_refused` for a grant for another holder, or with terms that no request may have */
export function readGrantedTerms(
  holder: Holder,
  order: Order,
  grant: TokenGrant,
  now: Date,
): OrderedTerms {
  const path = 'token.grant'
  const isOfHolder =
    grant.kind === holder.kind &&
    grant.agent_id === (holder.agent?.id ?? null) &&
    grant.project_id === holder.projectId
  if (!isOfHolder)
    throw buildRefusedFault(path, 'it is for another agent, project or kind of token')
  const expiresAt = grant.expires_at === null ? null : new Date(grant.expires_at)
  const expiresInDays = expiresAt && Math.max(1, Math.round((+expiresAt - +now) / DAY_MS))
  const { label, environment, capabilities } = grant
  const isSound =
    labelText.safeParse(label).data === label &&
    (environment === null || environmentName.safeParse(environment).success) &&
    (expiresInDays ?? 1) <= MAX_LIFETIME_DAYS
  if (!isSound) throw buildRefusedFault(path, 'label, environment or time is invalid')
  const narrowing = acceptNarrowing(grant, path)
  const terms = { label, environment, capabilities, ...narrowing, expiresInDays, expiresAt }
  const [other] = differences(order, terms)
  if (other !== undefined) throw buildRefusedFault(other, 'differs from the grant: omit it')
  return terms
}

/** @throws Fault `link_refused` for a narrowed or limited token that reads values */
function acceptNarrowing(grant: TokenGrant, path: string): Narrowing {
  const narrowing = readNarrowing(grant)
  const isNarrowed = Object.values(narrowing).some((one) => one !== null)
  if (isNarrowed && grant.capabilities.some((one) => one === 'read'))
    throw buildRefusedFault(path, USES_ONLY)
  return narrowing
}

function differences(order: Order, terms: OrderedTerms) {
  const { label, environment, capabilities, expiresInDays, hosts, secrets, limits } = terms
  const said = [
    ['label', order.label, label],
    ['environment', order.environment, environment],
    ['capabilities', order.capabilities?.join(), capabilities.join()],
    ['expires_in_days', order.expires_in_days, expiresInDays],
    ['hosts', joinList(order.hosts), joinList(hosts)],
    ['secrets', joinList(order.secrets), joinList(secrets)],
    ['limits', textOf(order.limits), textOf(limits)],
  ] as const
  return said.flatMap(([field, one, granted]) =>
    one === undefined || one === granted ? [] : [field],
  )
}

/** In one order, whichever the request has. */
function textOf(limits: TokenLimits | null | undefined): string | null | undefined {
  return limits ? limitNames.map((name) => limits[name]).join() : limits
}

/** Null is said too, and undefined is not. */
function joinList(list: readonly string[] | null | undefined): string | null | undefined {
  return list ? list.join() : list
}
