/** Where agents may send credentials: nothing is allowed until somebody says so. */
import { type Action, recordChanges } from '../../audit/changes.ts'
import type { Transaction } from '../../platform/db/open.ts'
import { lockWorkspace } from '../../platform/db/workspace_lock.ts'
import { Fault } from '../../platform/fault.ts'
import type { Grant } from '../../platform/grant.ts'
import { openPager } from '../../platform/http/page.ts'
import { created } from '../../platform/http/reply.ts'
import { type Route, route } from '../../platform/http/route.ts'
import type { FeatureServices } from '../../platform/services.ts'
import {
  addToAllowlist,
  listAllowlist,
  listAllowlistLog,
  removeFromAllowlist,
  removeLogFromAllowlist,
} from './contract.ts'
import { deleteEntry, insertEntries, insertLog, selectEntries, selectLog } from './queries.ts'

export function allowlistRoutes({ config }: FeatureServices): Route[] {
  const pager = openPager(config)
  return [
    route(listAllowlist, async ({ tx, grant, query }) => {
      const [after] = pager.start('allowlist', query.cursor) ?? []
      const rows = await selectEntries(tx, grant, { after, limit: query.limit })
      return pager.cut(
        'allowlist',
        rows,
        query.limit,
        (row) => [row.domain],
        (row) => row,
      )
    }),
    route(addToAllowlist, async ({ tx, grant, body }) => {
      await lockWorkspace(tx, grant)
      const added = await insertEntries(tx, grant, body.domains)
      const domains = added.map(({ domain }) => domain)
      await insertLog(tx, grant, 'added', domains)
      await record(tx, grant, 'allowlist.added', domains)
      return added.length > 0 ? created(added) : added
    }),
    route(removeFromAllowlist, ({ tx, grant, params }) => remove(tx, grant, params.domain)),
    route(removeLogFromAllowlist, ({ tx, grant }) => remove(tx, grant, 'log')),
    route(listAllowlistLog, async ({ tx, grant, query }) => {
      const [after] = pager.start('allowlist.log', query.cursor) ?? []
      const rows = await selectLog(tx, grant, { after, limit: query.limit })
      return pager.cut(
        'allowlist.log',
        rows,
        query.limit,
        (row) => [row.id],
        (row) => row,
      )
    }),
  ]
}

async function remove(
  tx: Transaction,
  grant: Grant<'allowlist.write'>,
  domain: string,
): Promise<undefined> {
  await lockWorkspace(tx, grant)
  if (!(await deleteEntry(tx, grant, domain))) throw new Fault('not_found')
  await insertLog(tx, grant, 'removed', [domain])
  await record(tx, grant, 'allowlist.removed', [domain])
}

function record(
  tx: Transaction,
  grant: Grant,
  action: Action,
  domains: readonly string[],
): Promise<void> {
  return recordChanges(
    tx,
    grant,
    domains.map((domain) => ({ action, resource: { type: 'domain', id: null, name: domain } })),
  )
}
