/** A release: the held values sealed to the token that asked, and the text that its signer answers for (protocol 14.3). */
import { sealRelease } from '../../core/crypto/approval/release_envelope.ts'
import { fromBase64, toBase64, toBase64Url } from '../../core/crypto/encoding.ts'
import { webSha256 } from '../../core/crypto/web_primitives.ts'
import { matrix } from '../../core/roles.ts'
import { releaseApproval } from '../../features/approvals/contract.ts'
import { type HeldRelease, signText } from '../../sigchain/index.ts'
import { readLocalTime } from '../http/transport.ts'
import { requireRole, roleDenied } from '../signed/rights.ts'
import type { MemberSigner } from '../signed/statements.ts'
import type { WorkspacePlace } from '../workspace.ts'
import { type HeldUse, openHeldValues, UnverifiedRequest, type VerifiedRequest } from './verify.ts'

export type { HeldUse } from './verify.ts'

/** Calls to one host for a time, with any query, headers and body. */
export type ReleaseWindow = NonNullable<HeldRelease['scope']> & { seconds: number }

/** Milliseconds for which a release of one call is valid. */
const SINGLE_MS = 900_000
const ADMINS = matrix['agent.manage']

/** Seconds that a window may last at most: as long as every secret's policy permits. */
export function findLongestWindow(held: readonly HeldUse[]): number {
  return Math.min(...held.map(({ ttlSeconds }) => ttlSeconds))
}

/**
 * Null releases this one call, for a quarter of an hour. Returns when the release expires.
 *
 * @throws ApiError, RoleRefusal, UnverifiedRequest, UntrustedChain
 */
export async function releaseRequest(
  place: WorkspacePlace,
  request: VerifiedRequest,
  window: ReleaseWindow | null,
): Promise<{ expiresAt: string }> {
  const signer = await signerFor(place, request)
  const { approval, grant } = request
  const where = {
    workspaceId: place.workspace.id,
    tokenId: grant.token_id,
    approvalId: approval.id,
  }
  const publicKey = fromBase64(grant.public_key) ?? new Uint8Array()
  const sealed = await Promise.all(
    (await openHeldValues(place, request)).map(async ({ secret, value }) => {
      const { project_id, environment, key } = secret
      const plaintext = value.reveal()
      const at = { ...where, projectId: project_id, environment, key }
      const envelope = await sealRelease(at, publicKey, plaintext).finally(() => plaintext.fill(0))
      return { secret, envelope, envelope_sha256: toBase64Url(await webSha256(envelope)) }
    }),
  )
  const expires_at = expiryOf(window)
  const { workspace_id, head } = { workspace_id: where.workspaceId, head: signer.chain.head }
  const text: HeldRelease = {
    ...{ v: 3, workspace_id, head, signer: signer.userId, approval_id: approval.id },
    token_id: grant.token_id,
    digest: approval.digest,
    scope: window && scopeOf(window),
    secrets: sealed.map(({ secret, envelope_sha256 }) => ({
      ...toHeldTerms(secret),
      envelope_sha256,
    })),
    expires_at,
  }
  const signed = await signText('release', text, signer.signingKey)
  const envelopes = sealed.map(({ secret: { project_id, environment, key }, envelope }) => ({
    ...{ project_id, environment, key, envelope: toBase64(envelope) },
  }))
  const params = { workspace_id, approval_id: approval.id }
  await place.api.call(releaseApproval, { params, body: { ...signed, envelopes } })
  return { expiresAt: expires_at }
}

/** @throws RoleRefusal before any value is read */
async function signerFor(
  { workspace }: WorkspacePlace,
  { chain, held }: VerifiedRequest,
): Promise<MemberSigner> {
  const signer = await workspace.signer()
  if (signer === null) throw new UnverifiedRequest('the workspace is not signed')
  const { userId } = signer
  requireRole(chain, workspace, userId, 'approval.decide')
  const role = chain.members.get(userId)?.role ?? 'read_only'
  const needsAdmin = held.some(({ by }) => by === 'admin')
  if (needsAdmin && !ADMINS.includes(role))
    throw roleDenied(workspace, role, ADMINS, [...chain.members.values()])
  return { ...signer, chain }
}

function expiryOf(window: ReleaseWindow | null): string {
  return new Date(readLocalTime() + (window ? window.seconds * 1000 : SINGLE_MS)).toISOString()
}

function scopeOf({ host, methods, path_prefix }: ReleaseWindow): HeldRelease['scope'] {
  return { host, methods, path_prefix }
}

function toHeldTerms({ project_id, environment, key, value_sha256, policy_sha256 }: HeldUse) {
  return { project_id, environment, key, value_sha256, policy_sha256 }
}
