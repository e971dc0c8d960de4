/** Reading the audit. */

import { ApiError } from '../../client/api.ts'
import { exportAudit, listAuditLogs, summariseAudit } from '../../features/audit/contract.ts'
import { EX_USAGE } from '../../platform/exit_codes.ts'
import type { auditListOptions, filterOptions, rangeOptions } from '../catalogue/options.ts'
import type { Action, OptionValues } from '../command.ts'
import { type WorkspaceScope, workspaceScope } from '../scope.ts'
import { CliError } from '../terminal/cli_error.ts'

const COLUMNS = [
  'timestamp',
  'agent_id',
  'decision',
  'status_code',
  'method',
  'target_domain',
  'credential_ref',
  'reason',
]
const TAIL_MS = 1000

type Query = Record<string, string | number>

type Filters = Partial<OptionValues<typeof filterOptions>>

/** Filters as the server names them. */
function filtersOf(options: Filters): Query {
  const { agent, domain, method, status, action, credential, since, until } = options
  const query = {
    agent_id: agent,
    domain,
    method,
    status_code: status,
    action,
    credential,
    since,
    until,
  }
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

async function page({ session, workspace }: WorkspaceScope, query: Query) {
  return session.api.call(listAuditLogs, { query: { ...query, workspace_id: workspace.id } })
}

export const list: Action<typeof auditListOptions> = async (context, _, options) => {
  const limit = Number(options.limit)
  if (!Number.isInteger(limit) || limit < 1 || limit > 500)
    throw new CliError(EX_USAGE, '--limit is a number from 1 to 500')
  const records = await page(await workspaceScope(context), { ...filtersOf(options), limit })
  context.output.table(records.map(shown), COLUMNS, records)
  return undefined
}

/** Changes on the control plane have an action where requests have a target. */
function shown(record: Awaited<ReturnType<typeof page>>[number]): Record<string, unknown> {
  const { action, resource } = record
  return action === null
    ? record
    : { ...record, method: action, target_domain: resource?.name ?? resource?.id }
}

export const summary: Action<typeof rangeOptions> = async (context, _, options) => {
  const { session, workspace } = await workspaceScope(context)
  const query = { workspace_id: workspace.id, ...filtersOf(options) }
  const counted = await session.api.call(summariseAudit, { query })
  if (context.output.isJson) context.output.table([], [], counted)
  else {
    context.output.record(counted.totals)
    context.output.say('')
    context.output.table(counted.by_agent, ['agent_id', 'count', 'last_used_at'])
    context.output.say('')
    context.output.table(counted.by_domain, ['domain', 'count'])
    context.output.say('')
    context.output.table(counted.by_credential, ['credential_ref', 'count'])
  }
  return undefined
}

/** One JSON object per line, as it arrives. */
export const exportAll: Action<typeof filterOptions> = async (context, _, options) => {
  const { session, workspace } = await workspaceScope(context)
  // A small call first: it renews the session if that has expired.
  await page({ session, workspace }, { limit: 1 })
  const query = new URLSearchParams({ workspace_id: workspace.id, ...filtersOf(options) } as Record<
    string,
    string
  >)
  const response = await fetch(`${session.server}${exportAudit.path}?${query}`, {
    redirect: 'manual',
    headers: { authorization: `Bearer ${session.stored.access}` },
  })
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => ({})))
  for await (const chunk of response.body ?? []) process.stdout.write(chunk)
  return undefined
}

/** Prints new records until it is interrupted. */
export const tail: Action<typeof filterOptions> = async (context, _, options) => {
  const scope = await workspaceScope(context)
  let since = new Date().toISOString()
  const seen = new Set<string>()
  while (true) {
    const records = (await page(scope, { ...filtersOf(options), since, limit: 500 })).filter(
      ({ id }) => !seen.has(id),
    )
    for (const record of records.reverse()) {
      seen.add(record.id)
      since = record.timestamp
      context.output.raw(
        context.output.isJson ? `${JSON.stringify(record)}\n` : `${lineOf(shown(record))}\n`,
      )
    }
    await Bun.sleep(TAIL_MS)
  }
}

function lineOf(record: Record<string, unknown>): string {
  return COLUMNS.map((column) => String(record[column] ?? '-').replace(/\p{Cc}/gu, '?')).join('  ')
}
