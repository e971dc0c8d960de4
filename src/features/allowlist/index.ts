/** Where agents may send credentials: nothing is allowed until an admin adds it. */
import { lockWorkspace } from '../../platform/db/workspace_lock.ts'
import { Fault } from '../../platform/fault.ts'
import type { Grant } from '../../platform/grant.ts'
import { openPager } from '../../platform/http/page.ts'
import type { Action, Change } from '../../platform/http/recorder.ts'
import { created } from '../../platform/http/reply.ts'
import { type Changing, type Route, route } from '../../platform/http/route.ts'
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
    route(addToAllowlist, async ({ tx, grant, audit, body }) => {
      await lockWorkspace(tx, grant)
      const added = await insertEntries(tx, grant, body.domains)
      const domains = added.map(({ domain }) => domain)
      if (added.length === 0) {
        audit.unchanged()
        return added
      }
      await insertLog(tx, grant, 'added', domains)
      audit.record(...domains.map((domain) => change('allowlist.added', domain)))
      return created(added)
    }),
    route(removeFromAllowlist, ({ params, ...changing }) => remove(changing, params.domain)),
    route(removeLogFromAllowlist, (changing) => remove(changing, 'log')),
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
  { tx, grant, audit }: Changing<Grant<'allowlist.write'>>,
  domain: string,
): Promise<undefined> {
  await lockWorkspace(tx, grant)
  if (!(await deleteEntry(tx, grant, domain))) throw new Fault('not_found')
  await insertLog(tx, grant, 'removed', [domain])
  audit.record(change('allowlist.removed', domain))
}

function change(action: Action, domain: string): Change {
  return { action, resource: { type: 'domain', id: null, name: domain } }
}
