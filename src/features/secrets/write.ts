/**
 * Writing secrets. The workspace is locked first, so that the epoch that is checked is the epoch
 * that is stored under, and so that the versions counted here are the only ones.
 */
import { fromBase64, toBase64 } from '../../platform/crypto/encoding.ts'
import type { OuterLayer } from '../../platform/crypto/outer_layer.ts'
import { readValueEpoch } from '../../platform/crypto/secret_value.ts'
import { lockWorkspace } from '../../platform/db/workspace_lock.ts'
import { Fault } from '../../platform/fault.ts'
import type { ProjectGrant } from '../../platform/grant.ts'
import type { Changing } from '../../platform/http/route.ts'
import {
  type NextSecret,
  selectCurrentVersions,
  selectSecret,
  selectVersion,
  writeSecrets,
} from './queries.ts'
import { openVersion, sealSecret, sealVersion, unreadable } from './sealed.ts'

type Write = ProjectGrant<'secret.write'>

/** As many refused fields as a reply lists. */
const MAX_FIELDS = 100

/** `value` is the ciphertext in canonical base64, as on the wire; `path` is where the entry stands in the request. */
type Entry = { key: string; value: string; policy: unknown; path: string }

/**
 * Creates or replaces all entries. Their number in statements does not depend on their number.
 *
 * @throws Fault `epoch_conflict` naming the entries that are sealed under another epoch
 */
export async function upsert(
  { tx, grant, audit }: Changing<Write>,
  outer: OuterLayer,
  { environment, entries }: { environment: string; entries: readonly Entry[] },
): Promise<{ created: number; updated: number }> {
  const { epoch } = await lockWorkspace(tx, grant)
  const decoded = entries.map((entry) => ({ ...entry, ciphertext: decode(entry.value) }))
  const stale = decoded.filter(({ ciphertext }) => !isUnder(epoch, ciphertext))
  if (stale.length > 0) throw epochConflict(stale.map(({ path }) => path))
  const current = await selectCurrentVersions(
    tx,
    grant,
    environment,
    entries.map(({ key }) => key),
  )
  if (!current) throw new Fault('not_found')
  const next = await Promise.all(
    decoded.map(({ key, policy, ciphertext }) => {
      const version = (current.get(key) ?? 0) + 1
      return sealNext(outer, grant, environment, { key, policy, version, ciphertext })
    }),
  )
  const written = await writeSecrets(tx, grant, environment, next)
  audit.record(
    ...written.map(({ id, key, version }) => ({
      action: version === 1 ? ('secret.created' as const) : ('secret.updated' as const),
      resource: { type: 'secret', id, name: key },
      projectId: grant.projectId,
      environment,
    })),
  )
  return { created: entries.length - current.size, updated: current.size }
}

/**
 * Stores an earlier version once more, as the newest one.
 *
 * @throws Fault `not_found` (no such secret or version), `epoch_conflict`, `unreadable_secret`
 */
export async function rollBack(
  { tx, grant, audit }: Changing<Write>,
  outer: OuterLayer,
  { environment, key, version }: { environment: string; key: string; version: number },
) {
  const { epoch } = await lockWorkspace(tx, grant)
  const secret = await selectSecret(tx, grant, environment, key)
  const earlier = secret && (await selectVersion(tx, grant, secret.id, version))
  if (!earlier) throw new Fault('not_found')
  const row = { projectId: grant.projectId, environment, key, version, sealed: earlier.sealed }
  const ciphertext = await openVersion(outer, grant.workspaceId, row)
  if (!ciphertext) throw unreadable(key)
  if (!isUnder(epoch, ciphertext)) throw epochConflict(['version'])
  const next = await sealNext(outer, grant, environment, {
    key,
    policy: earlier.policy,
    version: secret.version + 1,
    ciphertext,
  })
  const [written] = await writeSecrets(tx, grant, environment, [next])
  if (!written) throw new Fault('conflict')
  audit.record({
    action: 'secret.rolled_back',
    resource: { type: 'secret', id: secret.id, name: key },
    projectId: grant.projectId,
    environment,
  })
  return { ...written, value: toBase64(ciphertext) }
}

async function sealNext(
  outer: OuterLayer,
  { workspaceId, projectId }: Write,
  environment: string,
  secret: { key: string; policy: unknown; version: number; ciphertext: Uint8Array },
): Promise<NextSecret> {
  const { ciphertext, ...rest } = secret
  const row = { projectId, environment, key: secret.key, version: secret.version }
  const [sealed, sealedVersion] = await Promise.all([
    sealSecret(outer, workspaceId, row, ciphertext),
    sealVersion(outer, workspaceId, row, ciphertext),
  ])
  return { ...rest, sealed, sealedVersion }
}

function decode(value: string): Uint8Array {
  const bytes = fromBase64(value)
  if (!bytes) throw new TypeError('a value was not validated')
  return bytes
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
      .map((path) => ({ path, message: 'is sealed under another epoch' })),
  })
}
