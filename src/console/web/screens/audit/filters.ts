/** Filters of the audit log. They are in the address, so a link shows a colleague the same. */
import { getRouteApi } from '@tanstack/react-router'
import { say } from '../../parts/overlays/toasts.tsx'
import { texts } from '../../texts/index.ts'
import { actionGroups, isActionGroup } from './actions.ts'
import { rangeOf } from './period.ts'
import {
  type AuditFilters,
  auditSearch,
  type FilterName,
  filterNames,
  manyNames,
} from './search.ts'

const route = getRouteApi('/w/$workspaceId/audit')

const MOST_NAMES = 10

export const filterNamesOf = (filters: AuditFilters, name: FilterName): string[] =>
  filters[name]?.split(',') ?? []

export const isFiltered = (filters: AuditFilters): boolean =>
  filterNames.some((name) => filters[name] !== undefined)

/** The server's filter parameters, without the order. */
export function recordFilters(workspaceId: string, filters: AuditFilters) {
  const { actor, domain, credential, action, method, project, environment, decision } = filters
  const actions = action && isActionGroup(action) ? actionGroups[action].join() : action
  return {
    workspace_id: workspaceId,
    ...rangeOf(filters),
    ...(actor ? { agent_id: actor } : {}),
    ...(domain ? { domain } : {}),
    ...(credential ? { credential } : {}),
    ...(actions ? { action: actions } : {}),
    ...(method ? { method } : {}),
    ...(project ? { project_id: project } : {}),
    ...(environment ? { environment } : {}),
    ...(isDecision(decision) ? { decision } : {}),
  }
}

export const decisions = ['allowed', 'blocked', 'error'] as const
type Decision = (typeof decisions)[number]

export const isDecision = (text: string | undefined): text is Decision =>
  decisions.some((known) => known === text)

export function useFilters() {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changed: { [name in keyof AuditFilters]?: string | undefined }) =>
    void navigate({ search: (before) => auditSearch({ ...before, ...changed }) })
  /** Adds a name, or removes it. */
  const toggle = (name: FilterName, value: string) => {
    const names = buildNextNames(filters, name, value)
    if (names.length > MOST_NAMES) say(texts.audit.atMost(MOST_NAMES))
    else change({ [name]: names.join(), open: undefined })
  }
  const clear = () => {
    const { order } = filters
    void navigate({ search: order ? { order } : {} })
  }
  return { filters, change, toggle, clear }
}

function buildNextNames(filters: AuditFilters, name: FilterName, value: string): string[] {
  const before = filterNamesOf(filters, name)
  if (before.includes(value)) return before.filter((other) => other !== value)
  const isOne = !manyNames.some((many) => many === name) || isActionGroup(value)
  return isOne ? [value] : [...before.filter((other) => !isActionGroup(other)), value]
}
