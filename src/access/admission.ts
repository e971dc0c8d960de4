/**
 * Authenticates a call's token and checks that the token has the endpoint's capability. Every token endpoint begins
 * here: its contract names the capability, and nothing else of the request is read first.
 */
import { type Capability, capabilities } from '../core/capability.ts'
import { commandFix, Fault } from '../core/fault.ts'
import { getCurrentSpan, traceWork } from '../core/trace/span.ts'
import type { RateState } from '../database/limits/rate.ts'
import type { TokenEndpoint } from '../http/endpoint.ts'
import { decideDurably } from './decide.ts'
import { entryOf } from './entry.ts'
import type { Access } from './index.ts'
import { isNarrowed } from './narrowed.ts'
import type { LiveToken } from './tokens.ts'

export type Admitted = { token: LiveToken; rate: RateState }

type Presented = { text: string; requestId: string }

/**
 * Verifies the token, its rate and its capability. A refusal is recorded, and the record proves that the token is live:
 * a revoked or expired one is 401 and not 403.
 *
 * @throws Fault `invalid_token`, `rate_limited`, `scope_required`, and the faults of recording
 */
export async function admitToken(
  access: Access,
  endpoint: TokenEndpoint,
  { text, requestId }: Presented,
): Promise<Admitted> {
  const startedAt = new Date()
  const token = await traceWork('authenticate', {}, () => access.tokens.verify(text))
  const rate = await access.limiter.take(token.id)
  getCurrentSpan()?.trace.know()
  const refusal = refusalOf(token, endpoint)
  if (refusal) await refuse(access, token, refusal, { endpoint, id: requestId, startedAt })
  return { token, rate }
}

function refusalOf(token: LiveToken, { access }: TokenEndpoint): Fault | null {
  const { capability } = access
  if (capability !== null && !token.capabilities.includes(capability))
    return buildNotIssuedFault(token, capability)
  if (capability === 'read' && isNarrowed(token))
    return new Fault('scope_required', { message: NARROWED })
  return token.isSealed && !access.sealed ? new Fault('scope_required', { message: SEALED }) : null
}

const SEALED = 'The sealed form of a token cannot open what this needs: send the token itself.'

const NARROWED =
  'A narrowed or limited token can use credentials, but not read them. Issue one without --host, --secret and limits.'

const VERBS: Record<Capability, string> = {
  use: 'use credentials',
  read: 'read values',
}

/** Explains how to get a token with the capability. */
function buildNotIssuedFault({ kind, name, ...token }: LiveToken, needed: Capability): Fault {
  const command = kind === 'agent' ? 'token issue <agent>' : 'workload-token issue <label>'
  const issue = kind === 'agent' ? 'token' : 'workload-token'
  const both = capabilities.filter((one) => one === needed || token.capabilities.includes(one))
  return new Fault('scope_required', {
    message: `This token may not ${VERBS[needed]}. Ask an admin for one that may: cloakroom ${command} --may ${both.join(',')}`,
    fix: commandFix(issue, 'issue', name, '--may', both.join(',')),
  })
}

type Refused = { endpoint: TokenEndpoint; id: string; startedAt: Date }

function refuse(
  access: Access,
  token: LiveToken,
  refusal: Fault,
  { endpoint, id, startedAt }: Refused,
): Promise<never> {
  const { projectId, environment } = token
  const known = { id, startedAt, projectId, environment, method: null, target: null, uses: [] }
  const conclusion = {
    decision: 'blocked',
    reason: refusal.code,
    status_code: refusal.status,
    duration_ms: Date.now() - startedAt.getTime(),
    redacted: false,
  } as const
  return decideDurably<never>(access, token, async ({ policyVersion }) => {
    const { action = null } = endpoint.access
    return {
      result: refusal,
      entry: entryOf(token, policyVersion, { ...known, action }, conclusion),
    }
  })
}
