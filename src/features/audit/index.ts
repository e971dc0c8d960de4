/** Reads of the audit trail. */
import { endsWithin } from '../../core/async/timeout.ts'
import { Fault } from '../../core/fault.ts'
import { Download } from '../../http/reply.ts'
import { listRoute, type Route, route } from '../../http/route.ts'
import type { FeatureServices } from '../../http/services.ts'
import { callsOf } from './calls.ts'
import {
  exportAudit,
  getAuditLog,
  listAuditLogs,
  summariseAudit,
  summariseCalls,
} from './contract.ts'
import { exportLines } from './export.ts'
import { summariseFiltered } from './filtered_summary.ts'
import { selectFitting } from './fitting.ts'
import { positionOf, selectLog, selectLogs } from './queries.ts'
import { summarise } from './summary.ts'

/** Milliseconds that records get to be written before they are read; a full disk holds up no read. */
const FLUSH_MS = 1_000

/** `flush` writes what this process still holds, so that a person sees what they just did. */
export function auditRoutes(services: FeatureServices, flush: () => Promise<void>): Route[] {
  const routes = [
    listRoute(listAuditLogs, ({ tx, grant, query }) => ({
      name: `audit ${query.order}`,
      read: ({ after: [timestamp, id], limit }) => {
        const after = timestamp !== undefined && id !== undefined ? { timestamp, id } : null
        return selectLogs(tx, grant, query, { after, limit, order: query.order })
      },
      sortKey: (row) => Object.values(positionOf(row)),
      open: (rows) => selectFitting(rows, services.log),
    })),
    route(getAuditLog, async ({ tx, grant, params }) => {
      const found = await selectLog(tx, grant, params.log_id)
      const [record] = found ? selectFitting([found], services.log) : []
      if (!record) throw new Fault('not_found')
      return record
    }),
    route(summariseAudit, ({ tx, grant, query: { workspace_id: _, ...filters } }) => {
      const { since, until, decision, ...others } = filters
      const isCounted = Object.values(others).every((value) => value === undefined)
      return isCounted ? summarise(tx, grant, filters) : summariseFiltered(tx, grant, filters)
    }),
    route(summariseCalls, ({ tx, grant, query }) => callsOf(tx, grant, query)),
    route(exportAudit, ({ caller, grant, query }) => {
      const day = new Date(services.clock.now()).toISOString().slice(0, 10)
      return new Download(`audit-${day}.jsonl`, () =>
        exportLines(services, caller, grant.workspaceId, query),
      )
    }),
  ]
  const prepare = async () => {
    await endsWithin(FLUSH_MS, flush())
  }
  return routes.map((route) => ({ ...route, prepare }))
}
