/** Secrets: stored as clients sealed them, under the outer layer, and never opened further here. */
import { Semaphores } from '../../core/async/semaphore.ts'
import { toBase64 } from '../../core/crypto/encoding.ts'
import type { OuterLayer } from '../../core/crypto/outer_layer.ts'
import { Fault } from '../../core/fault.ts'
import type { ProjectGrant } from '../../core/grant.ts'
import { lockWorkspace } from '../../database/workspace_lock.ts'
import type { InputOf } from '../../http/endpoint.ts'
import type { BoundAudit } from '../../http/recorder.ts'
import { replyCreated } from '../../http/reply.ts'
import { type Changing, listRoute, type Route, route } from '../../http/route.ts'
import { requireMayWrite } from '../../identity/authorise.ts'
import { isSignedId } from '../../sigchain/index.ts'
import type { SignedServices } from '../links/index.ts'
import { acceptManifest, selectManifest } from '../statements/index.ts'
import {
  deleteSecret,
  getSecret,
  listDeletedSecrets,
  listSecrets,
  listVersions,
  restoreSecretsEndpoint,
  rollBackSecret,
  upsertSecrets,
} from './contract.ts'
import { keepDeletedSecrets, restoreSecrets, selectDeleted, selectRestorable } from './deleted.ts'
import { createDerivedRoutes } from './derived.ts'
import { deleteRows, selectSecret, selectSecretPage } from './queries.ts'
import {
  addCiphertexts,
  hasCiphertext,
  openStoredSecret,
  openStoredSecrets,
  openVersions,
  unreadable,
} from './sealed.ts'
import { MAX_FIELDS } from './shapes.ts'
import { selectVersions } from './version_queries.ts'
import { requireRoom, rollBack, upsert } from './write.ts'

export { deleteEnvironmentSecrets, keepDeletedSecrets, restoreDeletedWith } from './deleted.ts'
export { formComplaint } from './held.ts'

/** Rows of a page of deleted secrets with ciphertexts: about 4 MiB. */
const DELETED_AT_ONCE = 50

export function secretRoutes(services: SignedServices): Route[] {
  return [
    ...collectionRoutes(services),
    ...itemRoutes(services),
    ...versionRoutes(services),
    ...createDeletedRoutes(services),
    ...createDerivedRoutes(services.outer),
  ]
}

function collectionRoutes(services: SignedServices): Route[] {
  const { outer } = services
  const pagesOfValues = new Semaphores({ width: 2, queue: 256 })
  return [
    route(upsertSecrets, async ({ body, ...changing }) => {
      const { environment, secrets: entries, create_environment: mayCreate, manifest } = body
      const counts = await upsert(changing, services, { environment, entries, mayCreate, manifest })
      return counts.created > 0 ? replyCreated(counts) : counts
    }),
    listRoute(listSecrets, ({ tx, grant, audit, query: { environment, include } }) => {
      const { workspaceId } = grant
      const withCiphertext = include === 'value'
      return {
        name: `secrets ${grant.projectId} ${environment}`,
        read: async (page) => {
          // Read the manifest first, so that a concurrent write makes the signer's revision stale.
          const manifest = await selectManifest(tx, grant, environment)
          const read = await selectSecretPage(tx, grant, environment, { ...page, withCiphertext })
          return isSignedId(workspaceId) ? { ...read, beside: { manifest } } : read
        },
        sortKey: ({ key }) => [key],
        open: (rows) => openPage(outer, grant, environment, rows),
        record: (rows) => recordRead(audit, grant, environment, rows.filter(hasCiphertext)),
        queue: (read) => (withCiphertext ? pagesOfValues.run(workspaceId, read) : read()),
      }
    }),
  ]
}

function itemRoutes(services: SignedServices): Route[] {
  const { outer } = services
  return [
    route(getSecret, async ({ tx, grant, audit, params: { key }, query: { environment } }) => {
      const { projectId, workspaceId } = grant
      const secret = await selectSecret(tx, grant, environment, key)
      if (!secret) throw new Fault('not_found')
      const row = { projectId, environment, key, sealed: secret.sealed }
      const ciphertext = await openStoredSecret(outer, workspaceId, row)
      if (!ciphertext) throw unreadable(key)
      recordRead(audit, grant, environment, [secret])
      return { ...secret, value: toBase64(ciphertext) }
    }),
    route(deleteSecret, async ({ tx, grant, audit, params: { key }, query, body }) => {
      const { projectId } = grant
      const { environment } = query
      await lockWorkspace(tx, grant)
      const [, [deleted]] = await Promise.all([
        keepDeletedSecrets(tx, grant, { environment, key, deletedWith: null }),
        deleteRows(tx, grant, { environment, key }),
      ])
      if (!deleted) throw new Fault('not_found')
      requireMayWrite(grant, [deleted])
      await acceptManifest({ tx, grant }, services, { environment, ...body })
      const resource = { type: 'secret', id: deleted.id, name: key }
      audit.record({ action: 'secret.deleted', resource, projectId, environment })
      return undefined
    }),
  ]
}

function versionRoutes(services: SignedServices): Route[] {
  const { outer } = services
  return [
    listRoute(listVersions, async ({ tx, grant, audit, params: { key }, query }) => {
      const { environment, include } = query
      const secret = await selectSecret(tx, grant, environment, key)
      if (!secret) throw new Fault('not_found')
      const withCiphertext = include === 'value'
      return {
        name: `secrets.versions ${secret.id}`,
        read: (page) => selectVersions(tx, grant, secret.id, { ...page, withCiphertext }),
        sortKey: ({ version }) => [String(version)],
        open: (rows) =>
          addCiphertexts(
            rows,
            () => key,
            (sealed) => {
              const place = { projectId: grant.projectId, environment, key }
              const versions = sealed.map((row) => ({ ...row, ...place }))
              return openVersions(outer, grant.workspaceId, versions)
            },
          ),
        record: (rows) =>
          recordRead(audit, grant, environment, rows.some(hasCiphertext) ? [secret] : []),
      }
    }),
    route(rollBackSecret, ({ params, query, body, ...changing }) =>
      rollBack(changing, services, { ...params, ...query, ...body }),
    ),
  ]
}

function createDeletedRoutes(services: SignedServices): Route[] {
  const { outer } = services
  return [
    listRoute(listDeletedSecrets, ({ tx, grant, audit, query: { environment, include } }) => {
      const withCiphertext = include === 'value'
      return {
        name: `secrets.deleted ${grant.projectId} ${environment}`,
        ...(withCiphertext && { maxRows: DELETED_AT_ONCE }),
        read: (page) => selectDeleted(tx, grant, environment, { ...page, withCiphertext }),
        sortKey: ({ key }) => [key],
        open: (rows) => openPage(outer, grant, environment, rows),
        record: (rows) => recordRead(audit, grant, environment, rows.filter(hasCiphertext)),
      }
    }),
    route(restoreSecretsEndpoint, async ({ body, ...changing }) =>
      restore(changing, services, body),
    ),
  ]
}

function openPage<Row extends { key: string; sealed: Uint8Array | null }>(
  outer: OuterLayer,
  { projectId, workspaceId }: ProjectGrant<'secret.read'>,
  environment: string,
  rows: readonly Row[],
) {
  return addCiphertexts(
    rows,
    ({ key }) => key,
    (sealed) => {
      const places = sealed.map((row) => ({
        projectId,
        environment,
        key: row.key,
        sealed: row.sealed,
      }))
      return openStoredSecrets(outer, workspaceId, places)
    },
  )
}

async function restore(
  { tx, grant, audit }: Changing<ProjectGrant<'secret.write'>>,
  services: SignedServices,
  { environment, keys, manifest }: InputOf<typeof restoreSecretsEndpoint, 'body'>,
): Promise<{ restored: number }> {
  const [, found] = await Promise.all([
    lockWorkspace(tx, grant),
    selectRestorable(tx, grant, { environment, keys }),
  ])
  const known = new Set(found.map(({ key }) => key))
  const missing = keys.filter((key) => !known.has(key))
  if (missing.length > 0)
    throw new Fault('not_found', { fields: fieldsOf(missing, 'was not deleted recently') })
  requireMayWrite(grant, found)
  audit.record(
    ...found.map(({ id, key }) => ({
      action: 'secret.restored' as const,
      resource: { type: 'secret', id, name: key },
      projectId: grant.projectId,
      environment,
    })),
  )
  const [returned] = await Promise.all([
    restoreSecrets(tx, found),
    requireRoom(tx, grant, services.config, environment),
  ])
  const taken = keys.filter((key) => !returned.has(key))
  if (taken.length > 0)
    throw new Fault('already_exists', { fields: fieldsOf(taken, 'already exists again') })
  await acceptManifest({ tx, grant }, services, { environment, manifest })
  return { restored: keys.length }
}

function fieldsOf(keys: readonly string[], message: string) {
  return keys.slice(0, MAX_FIELDS).map((path) => ({ path, message }))
}

/** Records the names that people were shown, one record per request. */
function recordRead(
  audit: BoundAudit,
  { projectId }: ProjectGrant<'secret.read'>,
  environment: string,
  shown: readonly { id: string; key: string }[],
): void {
  const [first, another] = shown
  if (!first) {
    audit.unchanged()
    return
  }
  const name = shown.map(({ key }) => key).join(',')
  const resource = { type: 'secret', id: another ? null : first.id, name }
  audit.record({ action: 'secret.read', resource, projectId, environment })
}
