/** Reading the audit. */
import { listAuditLogs } from '../features/audit/contract.ts'
import { tokenActions } from '../http/endpoint.ts'
import { actions } from '../http/recorder.ts'
import type { OptionValues } from './command.ts'
import { findNearNames } from './named.ts'
import type { filterOptions } from './options.ts'
import type { WorkspaceScope } from './scope.ts'
import { CliError } from './terminal/cli_error.ts'
import type { Column } from './terminal/table.ts'

export const auditColumns = [
  { field: 'at', title: 'when' },
  'actor',
  'action',
  'target',
  'result',
  'credential',
  { field: 'place', title: 'project', optional: true },
] as const satisfies readonly Column[]

type Query = Record<string, string | number>

type Filters = Partial<OptionValues<typeof filterOptions>>

const ACTIONS = [...actions, ...tokenActions, 'access.denied']

/** @throws CliError for an action that no record has */
function demandAction(action: string): void {
  if (ACTIONS.includes(action)) return
  const near = findNearNames(action, ACTIONS)
  const some = near.length > 0 ? near : ACTIONS
  throw new CliError('usage', `there is no action ${action}`, `actions: ${some.join(', ')}`)
}

/** Records name the host alone. */
function hostOf(domain: string): string {
  return domain.replace(/^([^:]+|\[.*\]):\d+$/, '$1')
}

const decisions = { allowed: 'allowed', refused: 'blocked', failed: 'error' } as const
type Result = keyof typeof decisions
/** Values of `--result`. */
export const resultNames = Object.keys(decisions)

/** @throws CliError */
function decisionOf(result: string): string {
  if (Object.hasOwn(decisions, result)) return decisions[result as Result]
  throw new CliError('usage', `unknown result ${result}`, `results: ${resultNames.join(', ')}`)
}

/** E-mail addresses are recorded in lower case. @throws CliError if both options are given */
function actorOf({ actor, agent }: Filters): string | undefined {
  if (actor !== undefined && agent !== undefined)
    throw new CliError('usage', '--actor and --agent exclude each other', 'use --actor alone')
  return actor?.includes('@') ? `${actor},${actor.toLowerCase()}` : (actor ?? agent)
}

/** Filters as the server names them. @throws CliError */
export function filtersOf(options: Filters): Query {
  const { domain, method, status, action, credential, result, since, until } = options
  action?.split(',').forEach(demandAction)
  const query = {
    agent_id: actorOf(options),
    domain: domain?.split(',').map(hostOf).join(','),
    method,
    status_code: status,
    action,
    credential,
    decision: result === undefined ? undefined : decisionOf(result),
    since,
    until,
  }
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

export async function page({ session, workspace }: WorkspaceScope, query: Query) {
  return session.api.call(listAuditLogs, { query: { ...query, workspace_id: workspace.id } })
}

type AuditRecord = Awaited<ReturnType<typeof page>>[number]

/** A record as a row: actor, action, place and result. Changes on the control plane have an action and a resource. */
export function auditRow(record: AuditRecord, projects: ReadonlyMap<string, string>) {
  const { action, resource, target_url, target_domain, target_path, project_id, environment } =
    record
  // With a port other than 443.
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

export function nameOf(resource: AuditRecord['resource']): string | null {
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
