/** Whether a release covers a call, and its values (protocol 14.3). Each use verifies all of it. */
import type { StoredRelease } from '../../access/snapshots/releases.ts'
import type { Snapshot } from '../../access/snapshots/snapshots.ts'
import type { LiveToken } from '../../access/tokens.ts'
import { openRelease } from '../../core/crypto/approval/release_envelope.ts'
import { fromBase64, toBase64Url } from '../../core/crypto/encoding.ts'
import { sha256 } from '../../core/crypto/primitives.ts'
import type { SealedSecret } from '../../core/crypto/secret_value.ts'
import { tokenPrivateKey } from '../../core/crypto/token.ts'
import { type Approver, readApprover } from '../../core/policy/policy.ts'
import { objectionTo } from '../../core/policy/policy_check.ts'
import { Secret } from '../../core/secret.ts'
import type { ApprovalUse } from '../../outbound/policy/permission.ts'
import type { AskedRequest } from '../../outbound/policy/policy.ts'
import { Refusal, readText, type TextOf, verifyRelease } from '../../sigchain/index.ts'
import { type DescribedCall, type UsedSealed, wirePlace } from './described_call.ts'

type ReleaseText = TextOf<'release'>

/** Milliseconds for which a release of one call is valid, and by which clocks may differ. */
const SINGLE_MS = 900_000
const SKEW_MS = 30_000

/** Parsed texts by stored release. Null for a malformed text. */
const texts = new WeakMap<StoredRelease, ReleaseText | null>()
const verdicts = new WeakMap<StoredRelease, Map<Approver, Promise<ReleaseText | null>>>()

function textOf(release: StoredRelease): ReleaseText | null {
  const known = texts.get(release)
  if (known !== undefined) return known
  const text = readOrNull(release)
  texts.set(release, text)
  return text
}

function readOrNull({ id, signed }: StoredRelease): ReleaseText | null {
  try {
    const text = readText('release', signed.statement)
    return text.approval_id === id ? text : null
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

/** Whether it is for one call, which has to claim it. */
export function isSingle(release: StoredRelease): boolean {
  return textOf(release)?.scope === null
}

/** When it expires, in milliseconds since 1970. */
export function releaseEnd(release: StoredRelease): number {
  return Date.parse(textOf(release)?.expires_at ?? '') || 0
}

/** Whether a release fits a call, before its signature is verified. */
export function fits(
  release: StoredRelease,
  { asked, body }: ApprovalUse,
  described: DescribedCall,
  now: number,
): boolean {
  const text = textOf(release)
  if (text === null) return false
  const { workspace_id, token_id } = described.call
  if (text.workspace_id !== workspace_id || text.token_id !== token_id) return false
  const { scope } = text
  const isForCall =
    scope === null ? body !== null && text.digest === described.digest : isInWindow(scope, asked)
  return isForCall && isInTime(text, described.held, now) && hasAll(text, described.held)
}

/** A window narrows like a policy, so a request that overrides its method or path is outside. */
function isInWindow(
  { host, methods, path_prefix }: NonNullable<ReleaseText['scope']>,
  asked: AskedRequest,
): boolean {
  const window = { allowed_domains: [host], allowed_methods: methods, allowed_paths: [path_prefix] }
  return objectionTo(window, { style: 'header', header: '' }, asked) === null
}

function isInTime({ scope, expires_at }: ReleaseText, held: readonly UsedSealed[], now: number) {
  const left = Date.parse(expires_at) - now
  const ttls = held.map(({ sealed }) => sealed.policy?.approval?.ttl_seconds ?? 0)
  const most = scope === null ? SINGLE_MS : Math.min(...ttls) * 1000
  return most > 0 && left > 0 && left <= most + SKEW_MS
}

function hasAll({ secrets }: ReleaseText, held: readonly UsedSealed[]): boolean {
  return held.every(({ sealed, hashes }) => {
    const said = secrets.find((one) => isAt(one, sealed))
    return said?.value_sha256 === hashes.value_sha256 && said.policy_sha256 === hashes.policy_sha256
  })
}

type Place = { project_id: string; environment: string; key: string }

function isAt(one: Place, sealed: SealedSecret): boolean {
  const { project_id, environment, key } = wirePlace(sealed)
  return one.project_id === project_id && one.environment === environment && one.key === key
}

/** Whether its signer may still release these values, by the chain of its snapshot. */
export async function isSignedByApprover(
  release: StoredRelease,
  { signed }: Snapshot,
  held: readonly UsedSealed[],
): Promise<boolean> {
  if (!signed || signed.chain instanceof Error) return false
  const by = held.some(({ sealed }) => readApprover(sealed.policy) === 'admin') ? 'admin' : 'member'
  const known = verdicts.get(release) ?? new Map<Approver, Promise<ReleaseText | null>>()
  verdicts.set(release, known)
  const verdict =
    known.get(by) ??
    verifyRelease(signed.chain, release.signed, by).catch((error) => {
      if (error instanceof Refusal) return null
      throw error
    })
  known.set(by, verdict)
  return (await verdict) !== null
}

/** Values by place: a snapshot that is verified meanwhile reads its secrets again. */
export type ReleasedValues = ReadonlyMap<string, Secret>

export function formatHeldName({ projectId, environment, key }: SealedSecret): string {
  return `${projectId}/${environment}/${key}`
}

/** Decrypts released values. `null` if an envelope differs from the signed one or cannot be decrypted. */
export function openReleased(
  release: StoredRelease,
  token: LiveToken,
  workspaceId: string,
  held: readonly UsedSealed[],
): ReleasedValues | null {
  const values = new Map<string, Secret>()
  const privateKey = tokenPrivateKey(token.id, token.secret())
  for (const { sealed } of held) {
    const said = textOf(release)?.secrets.find((one) => isAt(one, sealed))
    const envelope = envelopeOf(release, sealed)
    if (!said || !envelope || said.envelope_sha256 !== toBase64Url(sha256(envelope))) return null
    const place = { workspaceId, tokenId: token.id, approvalId: release.id, ...sealed }
    const value = openRelease(place, privateKey, envelope)
    if (value === null) return null
    values.set(formatHeldName(sealed), new Secret(value))
  }
  return values
}

function envelopeOf({ envelopes }: StoredRelease, sealed: SealedSecret): Uint8Array | null {
  const found = envelopes.find((one) => isAt(one, sealed))
  return found ? fromBase64(found.envelope) : null
}

/** Returns all values of a token's releases that open, with their names, for the guard of the token's answers. */
export function openGuardedReleases(
  releases: readonly StoredRelease[],
  token: LiveToken,
  workspaceId: string,
): { name: string; bytes: Uint8Array }[] {
  if (releases.length === 0) return []
  const privateKey = tokenPrivateKey(token.id, token.secret())
  return releases.flatMap(({ id, envelopes }) =>
    envelopes.flatMap(({ project_id, environment, key, envelope }) => {
      const place = { projectId: project_id, environment, key }
      const sealed = fromBase64(envelope)
      const at = { workspaceId, tokenId: token.id, approvalId: id, ...place }
      const bytes = sealed && openRelease(at, privateKey, sealed)
      return bytes ? [{ name: key, bytes }] : []
    }),
  )
}
