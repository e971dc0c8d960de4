/**
 * GET /v1/credentials/: the credentials that a token may name, for programs that show them to an agent. Reads are
 * recorded occasionally and without names, because programs read often.
 */
import type { z } from 'zod'
import { admitToken } from '../access/admission.ts'
import type { Credential } from '../access/credentials.ts'
import { decideDurably, orRefusal } from '../access/decide.ts'
import { entryOf } from '../access/entry.ts'
import { coversSecret } from '../access/narrowed.ts'
import type { LiveToken } from '../access/tokens.ts'
import { runInSlices } from '../core/async/time_slice.ts'
import { decideWhenRead } from '../core/async/unread.ts'
import type { Clock } from '../core/clock.ts'
import { Fault } from '../core/fault.ts'
import { LruMap } from '../core/lru.ts'
import type { Policy } from '../core/policy/policy.ts'
import { rateHeaders } from '../database/limits/rate.ts'
import { jsonResponse } from '../http/json/write.ts'
import { buildCommonHeaders } from '../http/reply.ts'
import type { RequestContext } from '../http/route.ts'
import { bearerText } from '../identity/authenticate.ts'
import { CallRecord } from '../outbound/record.ts'
import { listCredentials } from './contract.ts'
import { credentialNameOf, readProvenPolicies } from './proven.ts'
import type { Listings, ResolverServices } from './services.ts'

/** Milliseconds for which one record represents all listings of a token, in this process. */
const RECORD_MS = 60_000
const MAX_TOKENS = 10_000

type Shown = z.output<typeof listCredentials.result>[number]

export function openListings(clock: Clock): Listings {
  return new LruMap({ max: MAX_TOKENS, expiry: { ms: RECORD_MS, clock } })
}

/** @throws Fault `invalid_token`, `rate_limited`, `scope_required`, `audit_unavailable` */
export async function listUsableCredentials(
  services: ResolverServices,
  { request, requestId, putOff }: RequestContext,
): Promise<Response> {
  const text = bearerText(request.headers)
  const { token, rate } = await admitToken(services, listCredentials, { text, requestId })
  await recordOnce(services, token, requestId)
  const { policyVersion, list: stored } = await services.readCredentials(token.id)
  const { policies, credentials } = await readProvenPolicies(services, token, policyVersion)
  const list: Shown[] = []
  await runInSlices(credentials ?? stored, (credential) => {
    if (!coversSecret(token, credential.name)) return
    list.push(
      showCredential(credential, policies.get(credentialNameOf(credential, credential.name))),
    )
  })
  const headers = { ...buildCommonHeaders(requestId), ...rateHeaders(rate) }
  return jsonResponse(list, { headers }, putOff)
}

async function recordOnce(
  { listings, ...services }: ResolverServices,
  token: LiveToken,
  requestId: string,
): Promise<void> {
  if (listings.get(token.id)) return
  listings.set(token.id, true)
  const { projectId, environment } = token
  const record = new CallRecord({ id: requestId, projectId, environment })
  const { action } = listCredentials.access
  try {
    await decideDurably(services, token, async (snapshot, snapshots) => {
      const result = await orRefusal(() =>
        decideWhenRead(() => snapshots.requireVerified(snapshot, token)),
      )
      const conclusion =
        result instanceof Fault ? record.refusal(result) : record.outcome(200, false)
      const entry = entryOf(token, snapshot.policyVersion, record, conclusion)
      return { result, entry: { ...entry, action } }
    })
  } catch (error) {
    listings.delete(token.id)
    throw error
  }
}

function showCredential(
  { name, projectId, environment }: Credential,
  policy: Policy | undefined,
): Shown {
  return {
    name,
    project_id: projectId,
    environment,
    description: policy?.description ?? null,
    allowed_domains: policy?.allowed_domains ?? null,
    allowed_methods: policy?.allowed_methods ?? null,
    allowed_paths: policy?.allowed_paths ?? null,
    allowed_locations: policy?.allowed_locations ?? null,
    allowed_operations: policy?.allowed_operations ?? null,
    read_only: policy?.read_only ?? null,
    approval: policy?.approval ?? null,
  }
}
