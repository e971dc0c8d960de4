/** Reading the audit. */

import { download } from '../../client/http/answer.ts'
import { urlOf } from '../../client/http/api.ts'
import { listUnfilled } from '../../core/policy/unfilled.ts'
import { printableJson } from '../../core/printable.ts'
import {
  exportAudit,
  getAuditLog,
  listAuditLogs,
  summariseAudit,
} from '../../features/audit/contract.ts'
import { tokenActions } from '../../http/endpoint.ts'
import { actions } from '../../http/recorder.ts'
import type { auditListOptions, filterOptions, rangeOptions } from '../catalogue/options.ts'
import type { Action, OptionValues } from '../command.ts'
import { nearNames } from '../named.ts'
import { projectNames, type WorkspaceScope, workspaceScope } from '../scope.ts'
import { namingRole } from '../session/named_roles.ts'
import { CliError } from '../terminal/cli_error.ts'
import { type Column, cell, type Row } from '../terminal/table.ts'

export const auditColumns = [
  { field: 'at', title: 'when' },
  'actor',
  'action',
  'target',
  'result',
  'credential',
  { field: 'place', title: 'project', optional: true },
] as const satisfies readonly Column[]
const TAIL_MS = 1000

type Query = Record<string, string | number>

type Filters = Partial<OptionValues<typeof filterOptions>>

const ACTIONS = [...actions, ...tokenActions, 'access.denied']

/** @throws CliError for an action that no record has */
function demandAction(action: string): void {
  if (ACTIONS.includes(action)) return
  const near = nearNames(action, ACTIONS)
  const some = near.length > 0 ? near : ACTIONS
  throw new CliError('usage', `there is no action ${action}`, `actions: ${some.join(', ')}`)
}

/** Records name the host alone. */
function hostOf(domain: string): string {
  return domain.replace(/^([^:]+|\[.*\]):\d+$/, '$1')
}

/** Filters as the server names them. @throws CliError */
function filtersOf(options: Filters): Query {
  const { agent, domain, method, status, action, credential, since, until } = options
  if (action !== undefined) demandAction(action)
  const query = {
    agent_id: agent,
    domain: domain === undefined ? undefined : hostOf(domain),
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
    throw new CliError('usage', '--limit is a number from 1 to 500')
  const scope = await workspaceScope(context)
  const records = await page(scope, { ...filtersOf(options), limit })
  const projects = context.output.isJson ? new Map() : await projectNames(scope)
  const rows = records.map((record) => shown(record, projects))
  context.output.table(rows, auditColumns, records, 'id')
  return undefined
}

/** For people only what there is to say of it. */
export const show: Action = async (context, [log_id = '']) => {
  const { session, workspace } = await workspaceScope(context)
  const query = { workspace_id: workspace.id }
  const record = await session.api.call(getAuditLog, { params: { log_id }, query })
  const said = Object.entries({
    ...record,
    resource: nameOf(record.resource),
    unfilled: record.unfilled && listUnfilled(record.unfilled),
  })
  context.output.record(
    context.output.isJson ? record : Object.fromEntries(said.filter(([, value]) => value !== null)),
    record.id,
  )
  return undefined
}

type AuditRecord = Awaited<ReturnType<typeof page>>[number]

/** Who did what, where, and what became of it; changes on the control plane have an action and a resource. */
function shown(record: AuditRecord, projects: ReadonlyMap<string, string>) {
  const { action, resource, target_url, target_domain, target_path, project_id, environment } =
    record
  // With its port where that is not 443.
  const host = URL.parse(target_url ?? '')?.host ?? target_domain ?? ''
  const project = project_id === null ? null : (projects.get(project_id) ?? project_id.slice(0, 8))
  return {
    id: record.id,
    at: record.timestamp,
    actor: record.agent_id,
    action: action ?? record.method,
    target: action === null ? `${host}${target_path ?? ''}` : nameOf(resource),
    result: outcomeOf(record),
    credential: record.credential_ref,
    place: [project, environment].filter(Boolean).join('/') || null,
  }
}

function nameOf(resource: AuditRecord['resource']): string | null {
  return resource?.name ?? resource?.id ?? null
}

type Outcome = Pick<AuditRecord, 'decision' | 'reason' | 'status_code'>

/** `allowed, 200`, `refused: host_not_allowed`, `failed: upstream_timeout`. Changes have no outcome but a status. */
export function outcomeOf({ decision, reason, status_code }: Outcome): string | number | null {
  if (decision === null) return status_code
  const word = { allowed: 'allowed', blocked: 'refused', error: 'failed' }[decision]
  const told = reason === null ? word : `${word}: ${reason}`
  return status_code === null ? told : `${told}, ${status_code}`
}

const ACTOR = { field: 'agent_id', title: 'actor' } as const
const CREDENTIAL = { field: 'credential_ref', title: 'credential' } as const

const NOT_WHOLE =
  'These lists count only the newest calls: the range has too many names. Give a later --since.'

export const summary: Action<typeof rangeOptions> = async (context, _, options) => {
  const { session, workspace } = await workspaceScope(context)
  const query = { workspace_id: workspace.id, ...filtersOf(options) }
  const counted = await session.api.call(summariseAudit, { query })
  if (context.output.isJson) context.output.record(counted)
  else {
    context.output.record(counted.totals)
    context.output.say('')
    context.output.table(counted.by_agent, [ACTOR, 'count', 'last_used_at'])
    context.output.say('')
    context.output.table(counted.by_domain, ['domain', 'count'])
    context.output.say('')
    context.output.table(counted.by_credential, [CREDENTIAL, 'count'])
    if (!counted.is_whole) context.output.say(NOT_WHOLE)
  }
  return undefined
}

/** One JSON object per line, as it arrives. */
export const exportAll: Action<typeof filterOptions> = async (context, _, options) => {
  const { session, workspace } = await workspaceScope(context)
  // A small call first: it renews the session if that has expired.
  await page({ session, workspace }, { limit: 1 })
  const query = { workspace_id: workspace.id, ...filtersOf(options) }
  const headers = { authorization: `Bearer ${session.stored.access}` }
  const url = urlOf(session.server, exportAudit, { query })
  try {
    for await (const piece of download(exportAudit, url, { headers })) context.output.bytes(piece)
  } catch (error) {
    throw await namingRole(session.api, workspace, exportAudit.access, error)
  }
  return undefined
}

/** Prints new records until it is interrupted. */
export const tail: Action<typeof filterOptions> = async (context, _, options) => {
  const scope = await workspaceScope(context)
  const projects = await projectNames(scope)
  let since = options.since ?? new Date().toISOString()
  const seen = new Set<string>()
  while (true) {
    const records = (await page(scope, { ...filtersOf(options), since, limit: 500 })).filter(
      ({ id }) => !seen.has(id),
    )
    for (const record of records.reverse()) {
      seen.add(record.id)
      since = record.timestamp
      context.output.raw(
        context.output.isJson
          ? `${printableJson(record)}\n`
          : `${lineOf(shown(record, projects))}\n`,
      )
    }
    await Bun.sleep(TAIL_MS)
  }
}

function lineOf(row: Row): string {
  return auditColumns
    .map((column) => cell(row[typeof column === 'string' ? column : column.field]))
    .join('  ')
}
