/**
 * Verifies requests to use held secrets (protocol 14.3). A server can invent requests, change them and show them to the
 * wrong members, so none is shown or released before it is verified: the token's grant, the call by its digest, and
 * every secret by the signed manifest of its environment.
 */
import type { ApprovalCall } from '../../core/crypto/approval/call.ts'
import { comparePlaces } from '../../core/crypto/approval/call.ts'
import { openDetails } from '../../core/crypto/approval/details.ts'
import { callDigest } from '../../core/crypto/approval/digest.ts'
import { fromBase64, toBase64Url, utf8 } from '../../core/crypto/encoding.ts'
import { sha256 } from '../../core/crypto/primitives.ts'
import { environmentKey, policyHash } from '../../core/crypto/secret_value.ts'
import { domainMatches, parseDomain } from '../../core/net/domain.ts'
import { type Policy, readApprover } from '../../core/policy/policy.ts'
import type { Secret } from '../../core/secret.ts'
import { getApproval } from '../../features/approvals/contract.ts'
import {
  type Chain,
  Refusal,
  readNarrowing,
  type TokenGrant,
  verifyGrant,
} from '../../sigchain/index.ts'
import { type EnvironmentPlace, readNamed } from '../environment.ts'
import type { CallResult } from '../http/api.ts'
import { readLocalTime } from '../http/transport.ts'
import { openSecret } from '../vault.ts'
import type { WorkspacePlace } from '../workspace.ts'
import { openSignedState, type SignedState } from './reading.ts'

type Approval = CallResult<typeof getApproval>
type Used = ApprovalCall['secrets'][number]
export type HeldUse = Used & { by: 'member' | 'admin'; ttlSeconds: number }

/** A verified request. `body` is null if it is not text or too long to show. */
export type VerifiedRequest = {
  approval: Approval
  chain: Chain
  grant: TokenGrant
  call: ApprovalCall
  body: string | null
  reason: string | null
  held: HeldUse[]
}

/** A request that must not be shown as one. */
export class UnverifiedRequest extends Error {
  override readonly name = 'UnverifiedRequest'
  readonly why: string

  constructor(why: string) {
    super(`The request failed verification: ${why}.`)
    this.why = why
  }
}

/** @throws ApiError `not_found`, UnverifiedRequest, UntrustedChain */
export async function readVerifiedRequest(
  place: WorkspacePlace,
  id: string,
  state: SignedState = openSignedState(place.workspace),
): Promise<VerifiedRequest> {
  const params = { workspace_id: place.workspace.id, approval_id: id }
  const approval = await place.api.call(getApproval, { params })
  const chain = await state.chain()
  if (chain === null) throw new UnverifiedRequest('the workspace is not signed')
  const { call, body, reason } = openRequestDetails(place, approval)
  requireBody(call, body)
  const grant = await grantFor(chain, approval)
  requireScope(grant, call)
  requireAllowed([...chain.allowlist], call, 'its host is not an allowed host')
  const environments = environmentsIn(place, call)
  const held = (await Promise.all(environments.map((used) => selectHeldUses(used, state)))).flat()
  requireHeld(approval, held)
  return { approval, chain, grant, call, body, reason, held: held.sort(comparePlaces) }
}

/** Under the key of the first secret's environment, which the digest proves to be the requester's. */
function openRequestDetails({ workspace }: WorkspacePlace, approval: Approval) {
  const { id, workspace: workspaceId } = { id: approval.id, workspace: workspace.id }
  const [first] = [...approval.secrets].sort(comparePlaces)
  const sealed = fromBase64(approval.details ?? '')
  if (!first || approval.details === null || sealed === null)
    throw new UnverifiedRequest('its details were deleted')
  const { project_id, environment } = first
  const key = environmentKey(workspace.key, project_id, environment, workspace.epoch)
  const details = openDetails(key, workspaceId, id, sealed)
  if (details === null)
    throw new UnverifiedRequest('its details cannot be decrypted for this request')
  const { call } = details
  if (callDigest(key, call) !== approval.digest)
    throw new UnverifiedRequest('its digest belongs to another call')
  const isOfToken = call.workspace_id === workspaceId && call.token_id === approval.token_id
  if (!isOfToken) throw new UnverifiedRequest('its call belongs to another token')
  const isListed =
    call.secrets.length === approval.secrets.length &&
    call.secrets.every((used) => approval.secrets.some((one) => comparePlaces(used, one) === 0))
  if (!isListed) throw new UnverifiedRequest('its call uses other secrets')
  return details
}

function requireBody({ body_sha256 }: ApprovalCall, body: string | null): void {
  if (body === null) return
  if (toBase64Url(sha256(utf8(body))) === body_sha256) return
  throw new UnverifiedRequest('its body differs from the call')
}

async function grantFor(chain: Chain, { grant, token_id: id }: Approval): Promise<TokenGrant> {
  if (grant === null) throw new UnverifiedRequest('its token has no signed grant')
  const now = new Date(readLocalTime())
  try {
    const verified = await verifyGrant(chain, grant, { id }, now)
    const isOver = verified.expires_at !== null && Date.parse(verified.expires_at) <= +now
    if (!isOver) return verified
  } catch (error) {
    if (error instanceof Refusal) throw new UnverifiedRequest(error.message)
    throw error
  }
  throw new UnverifiedRequest('its token expired')
}

function requireScope(grant: TokenGrant, call: ApprovalCall): void {
  const mayUse = grant.capabilities.some((capability) => capability === 'use')
  if (!mayUse) throw new UnverifiedRequest('its token may not make calls')
  const { hosts, secrets } = readNarrowing(grant)
  if (hosts) requireAllowed(hosts, call, 'its token is not for that host')
  const isCovered = call.secrets.every(
    ({ project_id, environment, key }) =>
      (grant.project_id ?? project_id) === project_id &&
      (grant.environment ?? environment) === environment &&
      (secrets?.includes(key) ?? true),
  )
  if (!isCovered) throw new UnverifiedRequest('its token is not for these secrets')
}

const HTTPS_PORT = 443

function requireAllowed(hosts: readonly string[], call: ApprovalCall, message: string): void {
  const url = URL.parse(call.target_url)
  const port = url?.port ? Number(url.port) : HTTPS_PORT
  const isAllowed = hosts.some((text) => {
    const domain = parseDomain(text)
    return domain !== null && url !== null && domainMatches(domain, url.hostname, port)
  })
  if (!isAllowed) throw new UnverifiedRequest(message)
}

type UsedThere = EnvironmentPlace & { used: Used[] }

function environmentsIn({ api, workspace }: WorkspacePlace, { secrets }: ApprovalCall) {
  const nameOf = ({ project_id, environment }: Used) => `${project_id}/${environment}`
  return [...Map.groupBy(secrets, nameOf).values()].map((used): UsedThere => {
    const { project_id: projectId = '', environment = '' } = used[0] ?? {}
    return { api, workspace, projectId, environment, used }
  })
}

/** The held secrets among those that a call uses, as the signed manifest of their environment has them. */
async function selectHeldUses(
  { used, ...place }: UsedThere,
  state: SignedState,
): Promise<HeldUse[]> {
  const listed = await state.secrets(place)
  return used.flatMap((secret) => {
    const stored = listed.find(({ key }) => key === secret.key)
    const policy = (stored?.policy ?? null) as Policy | null
    const isSame =
      stored?.value_sha256 === secret.value_sha256 &&
      toBase64Url(policyHash(policy)) === secret.policy_sha256
    if (!isSame)
      throw new UnverifiedRequest(`${secret.key} has a different value or policy since the request`)
    const by = readApprover(policy)
    const ttlSeconds = policy?.approval?.ttl_seconds ?? 0
    return by === null ? [] : [{ ...secret, by, ttlSeconds }]
  })
}

function requireHeld({ secrets }: Approval, held: readonly HeldUse[]): void {
  const isSame = secrets.every(
    (one) => one.held === held.some((secret) => comparePlaces(secret, one) === 0),
  )
  if (!isSame || held.length === 0)
    throw new UnverifiedRequest('the secrets that need approval have changed')
}

/**
 * The values of the held secrets, in order. Each is decrypted with the policy in the request, so a policy that was
 * changed in the database releases no value.
 *
 * @throws UnverifiedRequest, ApiError, UntrustedChain
 */
export async function openHeldValues(
  place: WorkspacePlace,
  { call, held }: VerifiedRequest,
): Promise<{ secret: HeldUse; value: Secret }[]> {
  const isHeld = (used: Used) => held.some((secret) => comparePlaces(secret, used) === 0)
  const wanted = { ...call, secrets: call.secrets.filter(isHeld) }
  const opened = await Promise.all(
    environmentsIn(place, wanted).map(async ({ used, ...where }) => {
      const stored = await readNamed(where, new Set(used.map(({ key }) => key)))
      return used.map((secret) => ({ secret, value: openOne(where, secret, stored) }))
    }),
  )
  return held.map((secret) => {
    const found = opened.flat().find((one) => comparePlaces(one.secret, secret) === 0)
    if (!found) throw new UnverifiedRequest(`${secret.key} is missing`)
    return { secret, value: found.value }
  })
}

function openOne(
  where: EnvironmentPlace,
  { key, value_sha256, policy_sha256 }: Used,
  stored: Awaited<ReturnType<typeof readNamed>>,
): Secret {
  const found = stored.find((secret) => secret.key === key)
  const policy = (found?.policy ?? null) as Policy | null
  const raw = fromBase64(found?.value ?? '')
  const isSame =
    raw !== null &&
    toBase64Url(sha256(raw)) === value_sha256 &&
    toBase64Url(policyHash(policy)) === policy_sha256
  const value =
    isSame && found?.value
      ? openSecret(where.workspace, { ...where, key }, policy, found.value)
      : null
  if (value === null) throw new UnverifiedRequest(`${key} cannot be decrypted with its policy`)
  return value
}
