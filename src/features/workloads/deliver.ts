/**
 * POST /api/workloads/env/: a whole environment for one token (protocol 7).
 * Nothing leaves before its record is durable, and the record proves that the token is live. Names go
 * into the audit, values never. With a sealed-only token nothing is opened here at all.
 */
import { admitToken } from '../../access/admission.ts'
import { decideDurably, orRefusal } from '../../access/decide.ts'
import { entryOf } from '../../access/entry.ts'
import { environmentKeyOf } from '../../access/environment_key.ts'
import type { Access } from '../../access/index.ts'
import { placeNameOf, type VerifiedToken } from '../../access/snapshots/snapshot.ts'
import type { Snapshot } from '../../access/snapshots/snapshots.ts'
import type { LiveToken } from '../../access/tokens.ts'
import type { Entry } from '../../audit/trail.ts'
import { runInSlices } from '../../core/async/time_slice.ts'
import { decideWhenRead } from '../../core/async/unread.ts'
import { fromUtf8, toBase64, toBase64Url } from '../../core/crypto/encoding.ts'
import { isSealedHeld, openSealed, type SealedSecret } from '../../core/crypto/secret_value.ts'
import { Fault } from '../../core/fault.ts'
import { isDeliverable, readDerivedVariable } from '../../core/policy/policy.ts'
import {
  heldEntry,
  isMarked,
  type Entry as OpenedEntry,
  resolveReferences,
  UnresolvedReference,
} from '../../core/policy/references.ts'
import { rateHeaders } from '../../database/limits/rate.ts'
import { jsonResponse } from '../../http/json/write.ts'
import { buildCommonHeaders } from '../../http/reply.ts'
import type { RequestContext } from '../../http/route.ts'
import { bearerText } from '../../identity/authenticate.ts'
import { CallRecord } from '../../outbound/record.ts'
import { type Delivery, type DeliveryScope, deliverEnvironment } from './contract.ts'
import { type Delivering, deriveParts, type RenewalWait } from './derived.ts'
import { buildHeldParts, buildMissingParts } from './held.ts'
import { readScope, type Scope, scopeOf } from './scope.ts'

export async function deliver(access: Delivering, context: RequestContext): Promise<Response> {
  const { request, requestId, putOff, countBodies } = context
  const text = bearerText(request.headers)
  const { token, rate } = await admitToken(access, deliverEnvironment, { text, requestId })
  const named = await readScope(access, token, request, countBodies(token.workspaceId))
  const { projectId, environment } = token
  const record = new CallRecord({ id: requestId, projectId, environment })
  const wait: RenewalWait = { isOver: false }
  const delivery = await decideDurably(access, token, async (snapshot, snapshots) => {
    const result = await orRefusal(() =>
      gather({ ...access, snapshots }, snapshot, token, { ...named, wait }, record),
    )
    return { result, entry: deliveryEntryOf(token, snapshot.policyVersion, record, result) }
  })
  const headers = { ...buildCommonHeaders(requestId), ...rateHeaders(rate) }
  return jsonResponse(delivery, { headers }, putOff)
}

/** Complete when it is written, because nothing can go wrong after it. */
function deliveryEntryOf(
  token: LiveToken,
  policyVersion: number,
  record: CallRecord,
  result: unknown,
): Entry {
  const conclusion = result instanceof Fault ? record.refusal(result) : record.outcome(200, false)
  const entry = entryOf(token, policyVersion, record, conclusion)
  return { ...entry, action: deliverEnvironment.access.action, injection_style: 'env' }
}

/** @throws Fault `scope_required`, `not_found`, `key_not_provisioned`, `unreadable_secret`, `unresolved_reference` */
async function gather(
  access: Delivering,
  snapshot: Snapshot,
  token: LiveToken,
  named: DeliveryScope & { wait: RenewalWait },
  record: CallRecord,
): Promise<Delivery> {
  const { snapshots } = access
  const granted = await decideWhenRead(() => snapshots.requireGranted(snapshot, token))
  const scope = scopeOf(token, named)
  // First the envelope: a snapshot that is full is then left before a whole environment is read.
  await snapshots.envelope(snapshot, token.id, scope.projectId, scope.environment)
  const secrets = await snapshots.environment(snapshot, scope.projectId, scope.environment)
  if (secrets === null) throw new Fault('not_found')
  const isNamed = ({ key }: SealedSecret) => named.names?.includes(key) ?? true
  const delivered = secrets.filter((secret) => isDeliverable(secret.policy) && isNamed(secret))
  record.delivers(
    scope,
    delivered.map(({ key }) => key),
  )
  const place = {
    status: 'success' as const,
    workspace_id: snapshot.workspaceId,
    project_id: scope.projectId,
    environment: scope.environment,
  }
  if (!token.isSealed) {
    const roots = secrets.filter(isNamed)
    const derived = await deriveParts(access, snapshot, token, roots, named.wait)
    const opened = await openParts(access, snapshot, token, scope, secrets)
    const values = { ...pick(opened, delivered), ...derived.values }
    record.delivers(scope, Object.keys(values))
    const missing = buildMissingParts(named.names ?? [], roots, values, derived.unavailable)
    const unavailable = { ...derived.unavailable, ...missing }
    const isAll = Object.keys(unavailable).length === 0
    return { ...place, secrets: values, ...(isAll ? {} : { unavailable }) }
  }
  const sealed = await buildSealedParts(access, snapshot, token, scope, secrets)
  if (granted === null) return { ...place, ...sealed }
  return {
    ...place,
    ...sealed,
    ...(await buildSignedParts(access, snapshot, granted, scope, { ...named, secrets })),
  }
}

function pick(values: Record<string, string>, secrets: readonly SealedSecret[]) {
  return Object.fromEntries(secrets.map(({ key }) => [key, values[key] ?? '']))
}

/**
 * Values that are left out are opened as well: the ciphertext binds the policy, which proves that the author left
 * them out. Held secrets are not, because no token opens them.
 */
async function openParts(
  access: Access,
  snapshot: Snapshot,
  token: LiveToken,
  scope: Scope,
  secrets: readonly SealedSecret[],
): Promise<Record<string, string>> {
  if (secrets.length === 0) return {}
  const key = await environmentKeyOf(access, snapshot, token, scope)
  const opened = new Map<string, OpenedEntry>()
  await runInSlices(secrets, (sealed) => {
    if (isSealedHeld(sealed)) {
      opened.set(sealed.key, heldEntry)
      return
    }
    opened.set(sealed.key, { value: textOf(key.reveal(), sealed), policy: sealed.policy })
  })
  return resolveParts(opened)
}

/** Without policies, a client could not know which texts are references. */
function resolveParts(opened: ReadonlyMap<string, OpenedEntry>): Record<string, string> {
  const values = new Map<string, string>()
  const marked: string[] = []
  for (const [name, { value, policy }] of opened) {
    if (!isDeliverable(policy)) continue
    values.set(name, value)
    if (isMarked(policy)) marked.push(name)
  }
  try {
    for (const [name, { value }] of resolveReferences(opened, marked)) values.set(name, value)
    return Object.fromEntries(values)
  } catch (error) {
    if (!(error instanceof UnresolvedReference)) throw error
    throw new Fault('unresolved_reference', { message: `${error.reasons[0]}.`, cause: error })
  }
}

/** An environment variable is text: bytes that are not UTF-8 cannot be delivered as they are. */
function textOf(environmentKey: Uint8Array, sealed: SealedSecret): string {
  const plaintext = openSealed(environmentKey, sealed)
  if (!plaintext) throw unreadable(sealed.key)
  const text = fromUtf8(plaintext.reveal())
  if (text !== null) return text
  throw unreadable(sealed.key, 'is not UTF-8 text, so it cannot be an environment variable.')
}

async function buildSealedParts(
  { snapshots }: Access,
  snapshot: Snapshot,
  token: LiveToken,
  { projectId, environment }: Scope,
  secrets: readonly SealedSecret[],
) {
  const granted = await snapshots.envelope(snapshot, token.id, projectId, environment)
  const usable = granted?.envelope && granted.epoch === snapshot.epoch ? granted.envelope : null
  if (!usable && secrets.length > 0) throw new Fault('key_not_provisioned')
  const broken = secrets.find(({ ciphertext }) => ciphertext === null)
  if (broken) throw unreadable(broken.key)
  const delivered = secrets.filter(({ policy }) => isDeliverable(policy))
  const derived = secrets
    .filter(({ policy }) => readDerivedVariable(policy) === 'delivered')
    .map(({ key }) => key)
  const held = buildHeldParts(secrets)
  return {
    ...(derived.length === 0 ? {} : { derived }),
    ...(Object.keys(held).length === 0 ? {} : { unavailable: held }),
    sealed: Object.fromEntries(
      delivered.flatMap(({ key, ciphertext, policy }) =>
        ciphertext ? [[key, { value: toBase64(ciphertext), policy }] as const] : [],
      ),
    ),
    envelopes: usable
      ? [
          {
            project_id: projectId,
            environment,
            epoch: snapshot.epoch,
            envelope: toBase64(usable),
            ...granted?.signed,
          },
        ]
      : [],
  }
}

/** The data that verifies a delivery from a signed workspace (protocol 12.3). */
async function buildSignedParts(
  { snapshots }: Access,
  snapshot: Snapshot,
  { grant, binding }: VerifiedToken,
  scope: Scope,
  { secrets, links_after }: { secrets: readonly SealedSecret[] } & DeliveryScope,
) {
  const verified = snapshot.signed?.environments.get(placeNameOf(scope))
  const left = secrets.filter(({ policy }) => !isDeliverable(policy))
  return {
    links: await snapshots.links(snapshot, links_after ?? 0),
    grant,
    binding: toBase64(binding),
    manifest: verified?.manifest ?? null,
    // The manifest covers what is not delivered, too.
    value_sha256: Object.fromEntries(
      left.map(({ key }) => [key, toBase64Url(verified?.hashes.get(key) ?? new Uint8Array())]),
    ),
  }
}

function unreadable(
  name: string,
  why = 'cannot be decrypted. It was altered or sealed with another key.',
): Fault {
  return new Fault('unreadable_secret', { message: `The secret ${name} ${why}` })
}
