/**
 * Writing secrets. The workspace is locked first, so that the epoch that is checked is the epoch
 * that is stored under, and so that the versions counted here are the only ones.
 */

import type { QuotaConfig } from '../../core/config/quotas.ts'
import { toBase64 } from '../../core/crypto/encoding.ts'
import type { OuterLayer } from '../../core/crypto/outer_layer.ts'
import { sha256 } from '../../core/crypto/primitives.ts'
import { isSamePolicy, readValueEpoch } from '../../core/crypto/secret_value.ts'
import { Fault } from '../../core/fault.ts'
import type { ProjectGrant } from '../../core/grant.ts'
import { requireQuota } from '../../database/limits/quota.ts'
import type { Transaction } from '../../database/open.ts'
import { lockWorkspace } from '../../database/workspace_lock.ts'
import type { Changing } from '../../http/route.ts'
import { requireMayWrite } from '../../identity/authorise.ts'
import { isSignedId, type SignedText } from '../../sigchain/index.ts'
import type { SignedServices } from '../links/index.ts'
import { acceptManifest, readSigned } from '../statements/index.ts'
import { dropReadable, requireForms, requireSameForm } from './held.ts'
import { type NextSecret, selectCurrent, selectSecret, writeSecrets } from './queries.ts'
import { openVersion, sealStoredSecret, sealVersion, unreadable } from './sealed.ts'
import { MAX_FIELDS } from './shapes.ts'
import { selectVersion } from './version_queries.ts'

type Write = ProjectGrant<'secret.write'>
type Services = Pick<SignedServices, 'db' | 'outer' | 'chains' | 'config'>

/** `value` is the ciphertext in canonical base64, as on the wire; `path` is the position of the entry in the request. Without `policy` it takes none from the secret that is there. */
type Entry = {
  key: string
  value: string
  policy?: unknown
  expected_version?: number | undefined
  path: string
}

/** The signed parts of a write in a signed workspace. */
type Signed = { environment: string; manifest?: SignedText | undefined }
type Upsert = Signed & { entries: readonly Entry[]; mayCreate: boolean }
type RollBack = Signed & { key: string; version: number; policy?: unknown }

/**
 * Creates or replaces all entries. Their number in statements does not depend on their number.
 *
 * @throws Fault `conflict` naming the entries of another version than expected, `validation_error` those
 * that would lose a policy without a word,
 * those of another form than their policy demands, `forbidden` where only admins may write,
 * `epoch_conflict` those that are sealed under another epoch, `not_found` for an environment that
 * holds nothing when none may be made, and what `acceptManifest` throws
 */
export async function upsert(
  { tx, grant, audit }: Changing<Write>,
  services: Services,
  { environment, entries, mayCreate, manifest }: Upsert,
): Promise<{ created: number; updated: number; created_environment?: true }> {
  const decoded = entries.map((entry) => ({
    ...entry,
    ciphertext: Uint8Array.fromBase64(entry.value),
  }))
  requireForms(grant, decoded)
  const keys = entries.map(({ key }) => key)
  // One round trip: what follows the lock begins when it is held.
  const [{ epoch }, stored, before] = await Promise.all([
    lockWorkspace(tx, grant),
    selectCurrent(tx, grant, environment, keys),
    readSigned({ tx, grant }, services, environment),
  ])
  if (!stored) throw new Fault('not_found')
  const { secrets: current, isKnownEnvironment } = stored
  if (!isKnownEnvironment && !mayCreate) throw emptyEnvironment()
  requireMayWrite(grant, [...current.values(), ...entries])
  requireVersions(entries, current)
  requirePolicies(entries, current)
  const stale = decoded.filter(({ ciphertext }) => !isUnder(epoch, ciphertext))
  if (stale.length > 0) throw epochConflict(stale.map(({ path }) => path))
  const next = await Promise.all(
    decoded.map(({ key, policy = null, ciphertext }) => {
      const { id = Bun.randomUUIDv7(), version = 0 } = current.get(key) ?? {}
      const secret = { id, key, policy, version: version + 1, ciphertext }
      return sealNext(services.outer, grant, environment, secret)
    }),
  )
  // One round trip again: nothing waits for an answer in between, and a refusal takes all of it back.
  const writing = [
    dropReadable(
      tx,
      grant,
      environment,
      next.map((secret) => ({ ...secret, before: current.get(secret.key) })),
    ),
    writeSecrets(tx, grant, environment, next),
    ...(entries.length > current.size
      ? [requireRoom(tx, grant, services.config, environment)]
      : []),
    acceptManifest({ tx, grant }, services, { environment, manifest, before, written: next }),
  ]
  audit.record(
    ...next.map(({ id, key, version }) => ({
      action: version === 1 ? ('secret.created' as const) : ('secret.updated' as const),
      resource: { type: 'secret', id, name: key },
      projectId: grant.projectId,
      environment,
    })),
  )
  await Promise.all(writing)
  const counts = { created: entries.length - current.size, updated: current.size }
  return isKnownEnvironment ? counts : { ...counts, created_environment: true }
}

/** For secrets that were added to an environment, which may be new itself. @throws Fault `quota_exceeded` */
export async function requireRoom(
  tx: Transaction,
  { projectId }: Write,
  config: QuotaConfig,
  environment: string,
): Promise<void> {
  await Promise.all([
    requireQuota(tx, config, 'secrets', projectId, environment),
    requireQuota(tx, config, 'environments', projectId),
  ])
}

/** A writer replaces the version that it read: what another writer stored since would be lost unseen. */
function requireVersions(
  entries: readonly Entry[],
  current: ReadonlyMap<string, { version: number }>,
): void {
  const stale = entries.flatMap(({ key, expected_version: expected, path }) => {
    const version = current.get(key)?.version ?? 0
    if (expected === undefined || expected === version) return []
    return { path, message: version === 0 ? 'does not exist' : `has version ${version}` }
  })
  if (stale.length > 0) throw new Fault('conflict', { fields: stale.slice(0, MAX_FIELDS) })
}

/** A new value without a policy field would silently remove the restrictions of the old one. */
function requirePolicies(
  entries: readonly Entry[],
  current: ReadonlyMap<string, { policy: unknown }>,
): void {
  const silent = entries.filter(
    ({ key, policy }) => policy === undefined && (current.get(key)?.policy ?? null) !== null,
  )
  if (silent.length === 0) return
  const message = 'has a policy: send the policy, or null to remove it'
  throw new Fault('validation_error', {
    fields: silent.slice(0, MAX_FIELDS).map(({ path }) => ({ path, message })),
  })
}

function emptyEnvironment(): Fault {
  return new Fault('not_found', { message: 'This environment is empty.' })
}

/**
 * Stores an earlier version once more, as the newest one.
 *
 * @throws Fault `not_found` (no such secret or version), `epoch_conflict`, `unreadable_secret`,
 * `conflict` when its policy is not today's and the caller does not say that it knows, or when only one of the two is
 * held, `forbidden` where only admins may write, and what `acceptManifest` throws
 */
export async function rollBack(
  { tx, grant, audit }: Changing<Write>,
  services: Services,
  { environment, key, version, policy, manifest }: RollBack,
) {
  const [{ epoch }, secret, earlier, before] = await Promise.all([
    lockWorkspace(tx, grant),
    selectSecret(tx, grant, environment, key),
    selectVersion(tx, grant, { environment, key, version }),
    readSigned({ tx, grant }, services, environment),
  ])
  if (!secret || !earlier) throw new Fault('not_found')
  requireMayWrite(grant, [secret, earlier])
  requireSameForm(secret, earlier)
  const row = { projectId: grant.projectId, environment, key, version, sealed: earlier.sealed }
  const ciphertext = await openVersion(services.outer, grant.workspaceId, row)
  if (!ciphertext) throw unreadable(key)
  if (!isUnder(epoch, ciphertext)) throw epochConflict(['version'])
  const known = policy === undefined ? secret.policy : policy
  if (!isSamePolicy(earlier.policy, known)) throw buildOtherPolicyFault()
  const next = await sealNext(services.outer, grant, environment, {
    id: secret.id,
    key,
    policy: earlier.policy,
    version: secret.version + 1,
    ciphertext,
  })
  audit.record({
    action: 'secret.rolled_back',
    resource: { type: 'secret', id: secret.id, name: key },
    projectId: grant.projectId,
    environment,
  })
  const [written] = await Promise.all([
    writeSecrets(tx, grant, environment, [next]),
    acceptManifest({ tx, grant }, services, { environment, manifest, before, written: [next] }),
  ])
  if (!written) throw new Fault('conflict')
  const { policy: restored, version: newest } = next
  return {
    ...{ ...written, key, environment, policy: restored, version: newest },
    value: toBase64(ciphertext),
  }
}

/** Otherwise someone with only a session could restore a policy that was narrowed since. */
function buildOtherPolicyFault(): Fault {
  return new Fault('conflict', {
    message: 'This version has a different policy than the current version. Send it as `policy`.',
  })
}

async function sealNext(
  outer: OuterLayer,
  { workspaceId, projectId }: Write,
  environment: string,
  secret: { id: string; key: string; policy: unknown; version: number; ciphertext: Uint8Array },
): Promise<NextSecret> {
  const { ciphertext, ...rest } = secret
  const row = { projectId, environment, key: secret.key, version: secret.version }
  const [sealed, sealedVersion] = await Promise.all([
    sealStoredSecret(outer, workspaceId, row, ciphertext),
    sealVersion(outer, workspaceId, row, ciphertext),
  ])
  // In plain workspaces not even a null: each parameter costs the driver something.
  const hash = isSignedId(workspaceId) && { valueHash: sha256(ciphertext) }
  return { ...rest, sealed, sealedVersion, ...hash }
}

/** A ciphertext in another client's form has no epoch that could be wrong (protocol 3.3). */
function isUnder(epoch: number, ciphertext: Uint8Array): boolean {
  const named = readValueEpoch(ciphertext)
  return named === null || named === epoch
}

function epochConflict(paths: readonly string[]): Fault {
  return new Fault('epoch_conflict', {
    fields: paths
      .slice(0, MAX_FIELDS)
      .map((path) => ({ path, message: 'is sealed for another epoch' })),
  })
}
