/** The description of a call that a member approves (protocol 14.2). */
import {
  type ApprovalCall,
  comparePlaces,
  listCoveredHeaders,
} from '../../core/crypto/approval/call.ts'
import { callDigest } from '../../core/crypto/approval/digest.ts'
import { toBase64Url } from '../../core/crypto/encoding.ts'
import { sha256 } from '../../core/crypto/primitives.ts'
import { policyHash, type SealedSecret } from '../../core/crypto/secret_value.ts'
import { Fault } from '../../core/fault.ts'
import { isHeld } from '../../core/policy/policy.ts'
import type { Secret } from '../../core/secret.ts'
import type { ApprovalUse } from '../../outbound/policy/permission.ts'

/** A secret of the call, with the names by which the call uses it, such as those of its parts. */
export type UsedSealed = {
  sealed: SealedSecret
  hashes: { value_sha256: string; policy_sha256: string }
}

export type DescribedCall = {
  call: ApprovalCall
  digest: string
  used: readonly UsedSealed[]
  held: readonly UsedSealed[]
  /** The key of the first secret's environment. */
  key: Secret
}

type Caller = { workspaceId: string; tokenId: string }

/**
 * @param keyOf opens the key of a secret's environment
 * @throws Unread, and Fault `unreadable_secret` if a stored value is damaged
 */
export function describeCall(
  { call, asked: { target }, body }: ApprovalUse,
  sealed: readonly SealedSecret[],
  { workspaceId, tokenId }: Caller,
  keyOf: (place: SealedSecret) => Secret,
): DescribedCall {
  const used = toDistinct(sealed).map((one) => ({ sealed: one, hashes: hashesOf(one) }))
  const [first] = used
  if (!first) throw new Error('a call without secrets needs no approval')
  const described: ApprovalCall = {
    v: 3,
    workspace_id: workspaceId,
    token_id: tokenId,
    method: call.method,
    target_url: `https://${target.authority}${target.path}${target.search}`,
    headers: listCoveredHeaders(call.headers),
    body_sha256: body === null ? null : toBase64Url(sha256(body)),
    secrets: used.map(({ sealed: { projectId, environment, key }, hashes }) => ({
      project_id: projectId,
      environment,
      key,
      ...hashes,
    })),
  }
  const key = keyOf(first.sealed)
  return {
    call: described,
    digest: callDigest(key.reveal(), described),
    used,
    held: used.filter((one) => isHeld(one.sealed.policy)),
    key,
  }
}

/** Unique, in byte order. */
function toDistinct(sealed: readonly SealedSecret[]): SealedSecret[] {
  const sorted = [...new Set(sealed)].sort((one, other) =>
    comparePlaces(wirePlace(one), wirePlace(other)),
  )
  return sorted
}

export function wirePlace({ projectId, environment, key }: SealedSecret) {
  return { project_id: projectId, environment, key }
}

function hashesOf({ key, ciphertext, policy }: SealedSecret): UsedSealed['hashes'] {
  if (ciphertext === null)
    throw new Fault('unreadable_secret', { message: `The stored value of ${key} is damaged.` })
  return {
    value_sha256: toBase64Url(sha256(ciphertext)),
    policy_sha256: toBase64Url(policyHash(policy)),
  }
}
