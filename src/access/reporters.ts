/** Identifies external reporters to the audit: a token reports for itself, a person for a workspace they name. */

import { parseToken } from '../core/crypto/token.ts'
import { buildFieldFault, Fault } from '../core/fault.ts'
import { isUuid } from '../core/validation/validate.ts'
import type { TokenEndpoint } from '../http/endpoint.ts'
import type { RequestContext, Services } from '../http/route.ts'
import { bearerText } from '../identity/authenticate.ts'
import { admitToken } from './admission.ts'
import type { Access } from './index.ts'
import { requireGrantedNow } from './snapshots/snapshot_now.ts'

/** The reporter of a record, and the place that the reporter's token is bound to. */
export type Reporter = {
  workspaceId: string
  identityLevel: 'agent' | 'workload' | 'user'
  /** The agent's name, a workload's label, or the person's e-mail address. */
  agentId: string
  registrationId: string | null
  tokenId: string | null
  userId: string | null
  projectId: string | null
  environment: string | null
}

/** Identifies the sender of a report. The endpoint states the capability that a token needs. */
export type ReporterOf = (
  endpoint: TokenEndpoint,
  context: Pick<RequestContext, 'request' | 'requestId'>,
) => Promise<Reporter>

/**
 * Builds the function that identifies the reporter of a request, and counts the request against the reporter's rate.
 *
 * @throws Fault `invalid_token`, `rate_limited`, `scope_required`, and for sessions `validation_error`, `not_found`
 */
export function reporterOf(
  services: Pick<Services, 'db' | 'identity' | 'limits'>,
  access: Access,
): ReporterOf {
  return (endpoint, { request, requestId }) => {
    const text = bearerText(request.headers)
    return parseToken(text)?.kind === 'ses'
      ? asPerson(services, request)
      : asToken(access, endpoint, { text, requestId })
  }
}

async function asToken(
  access: Access,
  endpoint: TokenEndpoint,
  presented: { text: string; requestId: string },
): Promise<Reporter> {
  const { token } = await admitToken(access, endpoint, presented)
  // The audit trail does not prove for this report that the token is live.
  await access.tokens.confirm(token)
  await requireGrantedNow(access, token)
  return {
    workspaceId: token.workspaceId,
    identityLevel: token.kind,
    agentId: token.name,
    registrationId: token.registrationId,
    tokenId: token.id,
    userId: null,
    projectId: token.projectId,
    environment: token.environment,
  }
}

async function asPerson(
  { db, identity, limits }: Pick<Services, 'db' | 'identity' | 'limits'>,
  { headers, url }: Request,
): Promise<Reporter> {
  const caller = await identity.authenticate(headers)
  await limits.api.take(caller.sessionId)
  const named = headers.get('x-workspace-id') ?? new URL(url).searchParams.get('workspace_id')
  if (named === null)
    throw buildFieldFault('X-Workspace-Id', 'is required: name the workspace in this header')
  if (!isUuid(named)) throw new Fault('not_found')
  const { workspaceId, userId, email } = await identity.authorise(db, caller, 'audit.read', {
    workspaceId: named.toLowerCase(),
  })
  return {
    workspaceId,
    identityLevel: 'user',
    agentId: email,
    registrationId: null,
    tokenId: null,
    userId,
    projectId: null,
    environment: null,
  }
}
