/**
 * GET /v1/shapes/ (protocol 6.8): the shapes of stand-ins for a token's credentials. Values are decrypted for it but
 * not returned, except for settings to tokens that may read. It is recorded with the names, before the answer is sent,
 * by a statement that proves that the token is live.
 */
import type { z } from 'zod'
import { admitToken } from '../access/admission.ts'
import { decideDurably, orRefusal } from '../access/decide.ts'
import { entryOf } from '../access/entry.ts'
import { coversSecret } from '../access/narrowed.ts'
import type { Granted } from '../access/snapshots/snapshot.ts'
import type { Snapshot, SnapshotCache } from '../access/snapshots/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import { decideWhenRead } from '../core/async/unread.ts'
import { isSealedHeld } from '../core/crypto/secret_value.ts'
import { Fault } from '../core/fault.ts'
import { parsePart } from '../core/validation/validate.ts'
import { rateHeaders } from '../database/limits/rate.ts'
import { jsonResponse } from '../http/json/write.ts'
import { buildCommonHeaders } from '../http/reply.ts'
import { queryOf } from '../http/request_body.ts'
import type { RequestContext } from '../http/route.ts'
import { bearerText } from '../identity/authenticate.ts'
import type { CallScope } from '../outbound/policy/permission.ts'
import { CallRecord } from '../outbound/record.ts'
import { shapeByPolicy, UNAPPROVED, UNREADABLE } from '../outbound/stand_ins/shaped.ts'
import { listShapes } from './contract.ts'
import { type NamedScope, scopeFor } from './named_scope.ts'
import { openEach } from './opened.ts'
import type { ResolverServices } from './services.ts'

type Shown = z.output<typeof listShapes.result>[number]

/** @throws Fault `invalid_token`, `rate_limited`, `validation_error`, `scope_required`, `audit_unavailable` */
export async function listUsableShapes(
  services: ResolverServices,
  { request, requestId, putOff }: RequestContext,
): Promise<Response> {
  const text = bearerText(request.headers)
  const { token, rate } = await admitToken(services, listShapes, { text, requestId })
  const named = await readScope(services, token, request)
  const { projectId, environment } = token
  const record = new CallRecord({ id: requestId, projectId, environment })
  const { action } = listShapes.access
  const result = await decideDurably(services, token, async (snapshot, snapshots) => {
    const shown = await orRefusal(() =>
      gather({ ...services, snapshots }, snapshot, token, named, record),
    )
    const conclusion = shown instanceof Fault ? record.refusal(shown) : record.outcome(200, false)
    const entry = entryOf(token, snapshot.policyVersion, record, conclusion)
    return { result: shown, entry: { ...entry, action, injection_style: null } }
  })
  const headers = { ...buildCommonHeaders(requestId), ...rateHeaders(rate) }
  return jsonResponse(result, { headers }, putOff)
}

/** Reads a query. Only a token that is live at this moment learns about its errors. */
async function readScope(
  { tokens }: ResolverServices,
  token: LiveToken,
  request: Request,
): Promise<NamedScope> {
  try {
    const { project_id, environment } = parsePart(listShapes.query, queryOf(request))
    return { projectId: project_id ?? null, environment: environment ?? null }
  } catch (error) {
    await tokens.confirm(token)
    throw error
  }
}

async function gather(
  services: ResolverServices & { snapshots: SnapshotCache },
  snapshot: Snapshot,
  token: LiveToken,
  named: NamedScope,
  record: CallRecord,
): Promise<Shown[]> {
  const { snapshots } = services
  await decideWhenRead(() => snapshots.requireVerified(snapshot, token))
  const scope = scopeFor(token, named)
  const granted = await decideWhenRead(() => snapshots.grants(snapshot, token.id))
  const shown: Shown[] = []
  for (const place of granted.filter((each) => isIn(each, scope))) {
    await addShapes(services, { snapshot, token, place }, shown)
  }
  record.delivers(
    scope,
    shown.map(({ name }) => name),
  )
  return shown
}

function isIn({ projectId, environment }: Granted, scope: CallScope): boolean {
  return environment === scope.environment && (scope.projectId ?? projectId) === projectId
}

type Opening = { snapshot: Snapshot; token: LiveToken; place: Granted }

async function addShapes(
  services: ResolverServices,
  opening: Opening,
  shown: Shown[],
): Promise<void> {
  const { projectId: project_id, environment } = opening.place
  const mayRead = opening.token.capabilities.includes('read')
  try {
    await openEach(
      services,
      opening,
      () => true,
      (sealed, value) => {
        const { key: name, policy } = sealed
        if (!coversSecret(opening.token, name)) return
        // Only an opened value proves its policy.
        const allowed_locations = (value && policy?.allowed_locations) ?? null
        const closed = isSealedHeld(sealed) ? UNAPPROVED : UNREADABLE
        const shaped = value ? shapeByPolicy(policy, value.reveal(), mayRead) : closed
        shown.push({ name, project_id, environment, allowed_locations, ...shaped })
      },
    )
  } catch (error) {
    // Skips environments without the current key for the token.
    if (!(error instanceof Fault && error.code === 'key_not_provisioned')) throw error
  }
}
