/** Secrets: stored as clients sealed them, under the outer layer, and never opened further here. */
import { Semaphores } from '../../core/async/semaphore.ts'
import { toBase64 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import type { ProjectGrant } from '../../core/grant.ts'
import { lockWorkspace } from '../../database/workspace_lock.ts'
import type { InputOf } from '../../http/endpoint.ts'
import { openPager } from '../../http/page.ts'
import type { Audit } from '../../http/recorder.ts'
import { created, withBeside } from '../../http/reply.ts'
import { type Changing, type Route, route } from '../../http/route.ts'
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
import { keepDeletedSecrets, restoreSecrets, selectDeleted } from './deleted.ts'
import { deleteRow, selectSecret, selectSecrets } from './queries.ts'
import { openSecret, openSecrets, openVersions, readCiphertexts, unreadable } from './sealed.ts'
import { selectVersions } from './version_queries.ts'
import { MAX_FIELDS, requireRoom, rollBack, upsert } from './write.ts'

export { deleteEnvironmentSecrets, keepDeletedSecrets, restoreDeletedWith } from './deleted.ts'

/** Of deleted secrets with their ciphertexts: about 4 MiB. */
const DELETED_AT_ONCE = 50

export function secretRoutes(services: SignedServices): Route[] {
  return [
    ...collectionRoutes(services),
    ...itemRoutes(services),
    ...versionRoutes(services),
    ...deletedRoutes(services),
  ]
}

function collectionRoutes(services: SignedServices): Route[] {
  const { outer, config } = services
  const pager = openPager(config)
  const pagesOfValues = new Semaphores({ width: 2, queue: 256 })
  return [
    route(upsertSecrets, async ({ body, ...changing }) => {
      const { environment, secrets: entries, create_environment: mayCreate, manifest } = body
      const counts = await upsert(changing, services, { environment, entries, mayCreate, manifest })
      return counts.created > 0 ? created(counts) : counts
    }),
    route(listSecrets, async ({ tx, grant, audit, query }) => {
      const { projectId, workspaceId } = grant
      const { environment, include, limit, cursor } = query
      const list = `secrets ${projectId} ${environment}`
      const [after] = pager.start(list, cursor) ?? []
      const withCiphertext = include === 'value'
      const readPage = async () => {
        const page = { after, limit, withCiphertext }
        // First: who signs on what was read while somebody wrote is then told so by the revision.
        const manifest = await selectManifest(tx, grant, environment)
        const { rows, inPage } = await selectSecrets(tx, grant, environment, page)
        // The row beyond the page only tells that there is a next one: it stays unopened.
        const ciphertexts = await readCiphertexts(
          rows.slice(0, inPage),
          ({ key }) => key,
          (shown) => {
            const places = shown.map(({ key, sealed }) => ({ projectId, environment, key, sealed }))
            return openSecrets(outer, workspaceId, places)
          },
        )
        recordRead(audit, grant, environment, [...ciphertexts.keys()])
        const cut = pager.cut(
          list,
          rows,
          inPage,
          (row) => [row.key],
          // A copy of each is a tenth of what a list of names costs, and the contract lets no more leave.
          withCiphertext ? (row) => ({ ...row, value: ciphertexts.get(row) }) : (row) => row,
        )
        return isSignedId(workspaceId) ? withBeside(cut, { manifest }) : cut
      }
      return withCiphertext ? pagesOfValues.run(workspaceId, readPage) : readPage()
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
      const ciphertext = await openSecret(outer, workspaceId, row)
      if (!ciphertext) throw unreadable(key)
      recordRead(audit, grant, environment, [secret])
      return { ...secret, value: toBase64(ciphertext) }
    }),
    route(deleteSecret, async ({ tx, grant, audit, params: { key }, query, body }) => {
      const { projectId } = grant
      const { environment } = query
      await lockWorkspace(tx, grant)
      await keepDeletedSecrets(tx, grant, { environment, key, deletedWith: null })
      const id = await deleteRow(tx, grant, environment, key)
      if (id === null) throw new Fault('not_found')
      await acceptManifest({ tx, grant }, services, { environment, ...body })
      const resource = { type: 'secret', id, name: key }
      audit.record({ action: 'secret.deleted', resource, projectId, environment })
      return undefined
    }),
  ]
}

function versionRoutes(services: SignedServices): Route[] {
  const { outer, config } = services
  const pager = openPager(config)
  return [
    route(listVersions, async ({ tx, grant, audit, params: { key }, query }) => {
      const { projectId, workspaceId } = grant
      const { environment, include, limit, cursor } = query
      const secret = await selectSecret(tx, grant, environment, key)
      if (!secret) throw new Fault('not_found')
      const list = `secrets.versions ${secret.id}`
      const [after] = pager.start(list, cursor) ?? []
      const withCiphertext = include === 'value'
      const rows = await selectVersions(tx, grant, secret.id, { after, limit, withCiphertext })
      const ciphertexts = await readCiphertexts(
        rows.slice(0, limit),
        () => key,
        (shown) => {
          const place = { projectId, environment, key }
          const versions = shown.map(({ version, sealed }) => ({ ...place, version, sealed }))
          return openVersions(outer, workspaceId, versions)
        },
      )
      recordRead(audit, grant, environment, ciphertexts.size > 0 ? [secret] : [])
      return pager.cut(
        list,
        rows,
        limit,
        (row) => [String(row.version)],
        (row) => ({ ...row, value: ciphertexts.get(row) }),
      )
    }),
    route(rollBackSecret, ({ params, query, body, ...changing }) =>
      rollBack(changing, services, { ...params, ...query, ...body }),
    ),
  ]
}

function deletedRoutes(services: SignedServices): Route[] {
  const { outer, config } = services
  const pager = openPager(config)
  return [
    route(listDeletedSecrets, async ({ tx, grant, audit, query }) => {
      const { projectId, workspaceId } = grant
      const { environment, include, cursor } = query
      const list = `secrets.deleted ${projectId} ${environment}`
      const [after] = pager.start(list, cursor) ?? []
      const withCiphertext = include === 'value'
      const limit = withCiphertext ? Math.min(query.limit, DELETED_AT_ONCE) : query.limit
      const rows = await selectDeleted(tx, grant, environment, { after, limit, withCiphertext })
      const ciphertexts = await readCiphertexts(
        rows.slice(0, limit),
        ({ key }) => key,
        (shown) => {
          const places = shown.map(({ key, sealed }) => ({ projectId, environment, key, sealed }))
          return openSecrets(outer, workspaceId, places)
        },
      )
      recordRead(audit, grant, environment, [...ciphertexts.keys()])
      return pager.cut(
        list,
        rows,
        limit,
        (row) => [row.key],
        (row) => ({ ...row, value: ciphertexts.get(row) }),
      )
    }),
    route(restoreSecretsEndpoint, async ({ body, ...changing }) =>
      restore(changing, services, body),
    ),
  ]
}

async function restore(
  { tx, grant, audit }: Changing<ProjectGrant<'secret.write'>>,
  services: SignedServices,
  { environment, keys, manifest }: InputOf<typeof restoreSecretsEndpoint, 'body'>,
): Promise<{ restored: number }> {
  await lockWorkspace(tx, grant)
  const outcome = await restoreSecrets(tx, grant, { environment, keys })
  if ('missing' in outcome) {
    throw new Fault('not_found', { fields: fieldsOf(outcome.missing, 'was not deleted lately') })
  }
  if ('taken' in outcome) {
    throw new Fault('already_exists', { fields: fieldsOf(outcome.taken, 'is there again') })
  }
  await requireRoom(tx, grant, services.config, environment)
  await acceptManifest({ tx, grant }, services, { environment, manifest })
  audit.record(
    ...outcome.restored.map(({ id, key }) => ({
      action: 'secret.restored' as const,
      resource: { type: 'secret', id, name: key },
      projectId: grant.projectId,
      environment,
    })),
  )
  return { restored: keys.length }
}

function fieldsOf(keys: readonly string[], message: string) {
  return keys.slice(0, MAX_FIELDS).map((path) => ({ path, message }))
}

/** What people were shown: names, one record a request. */
function recordRead(
  audit: Audit,
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
