/** The states of derived credentials, for who replaces the workspace key. */
import { toBase64 } from '../../core/crypto/encoding.ts'
import { type OuterLayer, secretRow } from '../../core/crypto/outer_layer.ts'
import type { ProjectGrant } from '../../core/grant.ts'
import type { Reading } from '../../database/open.ts'
import { clientOf } from '../../database/prepared.ts'
import type { Page, PageRows } from '../../http/page.ts'
import { listRoute, type Route } from '../../http/route.ts'
import { listDerivedStates } from './contract.ts'

type Read = ProjectGrant<'workspace.update'>
type StateRow = {
  id: string
  environment: string
  key: string
  generation: number
  sealed: Uint8Array
}

/** States of existing secrets; a rekey deletes the others. The row that goes beyond 4 MiB is the last. */
const SELECT = `select * from (
    select s.id, d.environment, d.key, d.generation::float8 as generation, d.state as sealed,
      sum(octet_length(d.state)) over (order by d.environment, d.key) - octet_length(d.state) as before,
      count(*) over () as count
    from derived_states d join secrets s on s.project_id = d.project_id and s.environment = d.environment and s.key = d.key
    where d.workspace_id = $1::text::uuid and d.project_id = $2::text::uuid and d.state is not null
      and (d.environment, d.key) > ($3, $4)) as states
  where before < 4194304 order by environment, key limit $5::int`

export function createDerivedRoutes(outer: OuterLayer): Route[] {
  return [
    listRoute(listDerivedStates, ({ tx, grant, audit }) => ({
      name: `secrets.derived ${grant.projectId}`,
      read: (page) => selectStates(tx, grant, page),
      sortKey: ({ environment, key }) => [environment, key],
      open: (rows) => openStates(outer, grant, rows),
      record: (rows) => {
        if (rows.length === 0) {
          audit.unchanged()
          return
        }
        const name = rows.map(({ key }) => key).join(',')
        const resource = { type: 'secret', id: null, name }
        audit.record({ action: 'secret.read', resource, projectId: grant.projectId })
      },
    })),
  ]
}

async function selectStates(
  tx: Reading,
  { workspaceId, projectId }: Read,
  { after: [environment = '', key = ''], limit }: Page,
): Promise<PageRows<StateRow>> {
  const found = await clientOf(tx).unsafe<(StateRow & { count: string })[]>(
    SELECT,
    [workspaceId, projectId, environment, key, limit],
    { prepare: true },
  )
  return { rows: found, hasMore: found.length < Number(found[0]?.count ?? 0) }
}

/** An unreadable state counts as absent. */
async function openStates(
  outer: OuterLayer,
  { workspaceId, projectId }: Read,
  rows: readonly StateRow[],
) {
  const stored = rows.map((row) => ({ row: secretRow({ ...row, projectId }), blob: row.sealed }))
  const opened = await outer.openAll('derived.state', workspaceId, stored)
  return rows.flatMap(({ environment, key, generation }, index) => {
    const state = opened[index]
    return state ? [{ environment, key, generation, state: toBase64(state) }] : []
  })
}
