/** Stores a release: what a member signed for one request, and the values for its token alone (protocol 14.3). */
import { and, eq, inArray, sql } from 'drizzle-orm'
import { fromBase64, toBase64Url, utf8 } from '../../core/crypto/encoding.ts'
import { sha256 } from '../../core/crypto/primitives.ts'
import { policyHash } from '../../core/crypto/secret_value.ts'
import { Fault } from '../../core/fault.ts'
import { RoleDenied } from '../../core/grant.ts'
import { type Approver, type Policy, readApprover } from '../../core/policy/policy.ts'
import { roleRefusal } from '../../core/roles.ts'
import type { Transaction } from '../../database/open.ts'
import { secrets } from '../../database/schema/index.ts'
import { lockWorkspace } from '../../database/workspace_lock.ts'
import type { InputOf } from '../../http/endpoint.ts'
import type { Changing } from '../../http/route.ts'
import type { Notice } from '../../notices/notice.ts'
import { type TextOf, verifyRelease } from '../../sigchain/index.ts'
import { chainOf, type SignedServices } from '../links/index.ts'
import { buildRefusedFault, verifyOrRefuse } from '../statements/index.ts'
import type { releaseApproval } from './contract.ts'
import {
  type DecideGrant,
  dropEqualEnvelopes,
  envelopeBytes,
  selectApproval,
  storeRelease,
} from './queries.ts'

type Sent = InputOf<typeof releaseApproval, 'body'>
type ReleaseText = TextOf<'release'>
type Approval = NonNullable<Awaited<ReturnType<typeof selectApproval>>>
type Named = { project_id: string; environment: string; key: string }

/** Milliseconds for which a release of one call is good, and by which clocks may differ. */
const SINGLE_MS = 900_000
const SKEW_MS = 30_000
/** Bytes of envelopes of one token. */
const MAX_ENVELOPES = 16 * 1024 * 1024
const PATH = 'statement'

/**
 * @throws Fault `not_found`, `conflict` for what is not pending, `forbidden` where the policy asks for an admin,
 * `link_refused` for a statement that is not about this request and what is stored now
 */
export async function storeSignedRelease(
  { tx, grant, audit }: Changing<DecideGrant>,
  services: SignedServices,
  { id, body }: { id: string; body: Sent },
): Promise<void> {
  const { workspaceId, userId, role } = grant
  await lockWorkspace(tx, grant)
  const approval = await selectApproval(tx, grant, id)
  if (!approval) throw new Fault('not_found')
  if (approval.status !== 'pending') throw buildDecidedFault(approval)
  const chain = await chainOf({ tx, grant }, services)
  if (!chain) throw buildRefusedFault(PATH, 'this workspace is not signed')
  const held = approval.secrets.filter((secret) => secret.held)
  const stored = await readHeld(tx, grant, held)
  const by = stored.some((secret) => secret.by === 'admin') ? 'admin' : 'member'
  if (by === 'admin' && role === 'member')
    throw new RoleDenied(grant, roleRefusal(['owner', 'admin'], role))
  const { envelopes: sent, ...signed } = body
  const text = await verifyOrRefuse(userId, PATH, () => verifyRelease(chain, signed, by))
  requireSame(text, approval, stored, sent)
  requireTime(text, Math.min(...stored.map(({ ttlSeconds }) => ttlSeconds)), services)
  const signature = Uint8Array.fromBase64(signed.signature)
  const plain = utf8(JSON.stringify(sent))
  const blob = await services.outer.seal('approvals.envelopes', workspaceId, [{ uuid: id }], plain)
  await dropEqualEnvelopes(tx, grant, approval.token_id, text)
  if ((await envelopeBytes(tx, grant, approval.token_id)) + blob.length > MAX_ENVELOPES)
    throw buildFullFault()
  const { statement } = signed
  const expiresAt = new Date(text.expires_at)
  const row = { statement, signature, scope: text.scope, envelopes: blob, expiresAt }
  if (!(await storeRelease(tx, grant, id, row))) throw new Fault('conflict')
  audit.record({ action: 'approval.released', ...describeApproval(approval) })
  await services.notices.announce(workspaceId, buildDecisionNotice(grant, approval, 'released'), tx)
}

/** An approval in a record: its secrets by name, and its agent. */
export function describeApproval({ id, secrets: used, registration_id }: Approval) {
  const name = used.map(({ key }) => key).join(',')
  const registrationId = registration_id ?? undefined
  return { resource: { type: 'approval', id, name }, registrationId }
}

/** Tells a workspace who decided. */
export function buildDecisionNotice(
  { email: member }: DecideGrant,
  { id, agent, host, method, secrets: used }: Approval,
  code: 'released' | 'denied' | 'revoked',
): Notice {
  const event = 'approval.decided'
  const fields = { agent, host, method, secrets: used.map(({ key }) => key), member, code }
  return { event, cause: `${event}/${id}/${code}`, fields }
}

export function buildDecidedFault({ status }: Pick<Approval, 'status'>): Fault {
  return new Fault('conflict', { message: sentenceOf(status) })
}

function sentenceOf(status: Approval['status']): string {
  if (status === 'expired') return 'This request has expired.'
  return `This request ${status === 'pending' ? 'is still' : 'was already'} ${status}.`
}

type HeldRow = Named & { valueHash: string; policyHash: string; by: Approver; ttlSeconds: number }

/** The currently stored secrets. A secret that no longer needs approval cannot be released. */
async function readHeld(
  tx: Transaction,
  { workspaceId }: DecideGrant,
  named: readonly Named[],
): Promise<HeldRow[]> {
  const keys = named.map(({ key }) => key)
  const found = await tx
    .select({
      project_id: secrets.projectId,
      environment: secrets.environment,
      key: secrets.key,
      valueHash: secrets.valueHash,
      policy: sql<Policy | null>`${secrets.policy}`,
    })
    .from(secrets)
    .where(and(eq(secrets.workspaceId, workspaceId), inArray(secrets.key, keys)))
  return named.map((one) => {
    const row = found.find((other) => isSamePlace(one, other))
    const by = row ? readApprover(row.policy) : null
    if (!row?.valueHash || by === null) throw new Fault('conflict')
    return {
      ...one,
      valueHash: toBase64Url(row.valueHash),
      policyHash: toBase64Url(policyHash(row.policy)),
      by,
      ttlSeconds: row.policy?.approval?.ttl_seconds ?? 0,
    }
  })
}

function isSamePlace(one: Named, other: Named): boolean {
  return (
    one.project_id === other.project_id &&
    one.environment === other.environment &&
    one.key === other.key
  )
}

/** @throws Fault `link_refused` */
function requireSame(
  text: ReleaseText,
  approval: Approval,
  stored: readonly HeldRow[],
  envelopes: Sent['envelopes'],
): void {
  const isOfRequest =
    text.approval_id === approval.id &&
    text.token_id === approval.token_id &&
    text.digest === approval.digest
  if (!isOfRequest) throw buildRefusedFault(PATH, 'it is for another request')
  const areAll = text.secrets.length === stored.length && envelopes.length === stored.length
  if (!areAll) throw buildRefusedFault(PATH, 'it must list each secret of the request once')
  for (const one of stored) {
    const said = text.secrets.find((other) => isSamePlace(one, other))
    const isStored = said?.value_sha256 === one.valueHash && said.policy_sha256 === one.policyHash
    if (!isStored) throw buildRefusedFault(PATH, 'a value or policy changed since it was signed')
    const sent = envelopes.find((other) => isSamePlace(one, other))
    const bytes = fromBase64(sent?.envelope ?? '')
    const isSigned = bytes && said.envelope_sha256 === toBase64Url(sha256(bytes))
    if (!isSigned) throw buildRefusedFault('envelopes', 'they differ from the statement')
  }
}

/** @throws Fault `link_refused` */
function requireTime(
  { scope, expires_at }: ReleaseText,
  ttlSeconds: number,
  { clock }: Pick<SignedServices, 'clock'>,
): void {
  if (scope !== null && ttlSeconds === 0)
    throw buildRefusedFault(PATH, 'the policy of a secret does not allow approvals for a time')
  const most = scope === null ? SINGLE_MS : ttlSeconds * 1000
  const left = Date.parse(expires_at) - clock.now()
  if (left <= 0 || left > most + SKEW_MS)
    throw buildRefusedFault(PATH, 'it expires too late or has already expired')
}

function buildFullFault(): Fault {
  return new Fault('quota_exceeded', {
    message:
      'A token can have at most 16 MiB of approved values per day. Wait, or approve smaller values.',
  })
}
