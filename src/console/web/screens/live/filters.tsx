/** Chips that narrow the list. The filter is in the address, so a link shows the same list. */
import { getRouteApi } from '@tanstack/react-router'
import { FilterChip, FilterChips } from '../../parts/page/filter_chip.tsx'
import { FilterMenu } from '../../parts/page/filter_menu.tsx'
import { texts } from '../../texts/index.ts'
import type { LiveCall } from './stream.ts'
import { callHostOf, type Filter, matchesFilter, secretsOf, shownCalls } from './words.ts'

const route = getRouteApi('/w/$workspaceId/live')
const words = texts.live

export function useFilter() {
  const { show, agent, host, secret } = route.useSearch()
  const navigate = route.useNavigate()
  const filter: Filter = {
    show: shownCalls.find((known) => known === show) ?? 'all',
    ...{ agent, host, secret },
  }
  const change = (changed: Partial<Filter>) =>
    void navigate({ search: (before) => dropEmpty({ ...before, ...changed }), replace: true })
  const isFiltered =
    filter.show !== 'all' || [agent, host, secret].some((each) => each !== undefined)
  return { filter, change, isFiltered }
}

/** The address contains only active filters. */
function dropEmpty<T extends object>(search: T) {
  const entries = Object.entries(search).filter(([, value]) => value && value !== 'all')
  return Object.fromEntries(entries) as { [name in keyof T]?: string }
}

type Props = {
  calls: readonly LiveCall[]
  filter: Filter
  onChange(changed: Partial<Filter>): void
}

export function Filters({ calls, filter, onChange }: Props) {
  const count = (show: Filter['show']) =>
    calls.filter((call) => matchesFilter(call, { ...filter, show })).length
  const names = (namesOf: (call: LiveCall) => readonly string[]) =>
    [...new Set(calls.flatMap(namesOf))].filter(Boolean).sort()
  return (
    <FilterChips label={words.filters}>
      {shownCalls.map((show) => (
        <FilterChip
          key={show}
          label={words.shown[show]}
          {...(show === 'all' ? {} : { count: count(show) })}
          isSelected={filter.show === show}
          onPress={() => onChange({ show })}
        />
      ))}
      <FilterMenu
        label={words.columns.agent}
        anyLabel={words.anyAgent}
        options={names(({ agent_id }) => [agent_id])}
        value={filter.agent}
        onChange={(agent) => onChange({ agent })}
      />
      <FilterMenu
        label={words.host}
        anyLabel={words.anyHost}
        options={names((call) => [callHostOf(call)])}
        value={filter.host}
        onChange={(host) => onChange({ host })}
      />
      <FilterMenu
        label={words.columns.secret}
        anyLabel={words.anySecret}
        options={names(secretsOf)}
        value={filter.secret}
        onChange={(secret) => onChange({ secret })}
      />
    </FilterChips>
  )
}
