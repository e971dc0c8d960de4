/** The search with its suggestions, the period, a chip for each filter, and the chart below them. */
import { Eye, Plus } from 'lucide-react'
import { Button as AriaButton } from 'react-aria-components'
import { Button } from '../../parts/button.tsx'
import { SuggestField } from '../../parts/fields/suggest_field.tsx'
import { usePhone } from '../../parts/grid/use_phone.ts'
import { Icon } from '../../parts/icon.tsx'
import { MenuAround, type MenuChoice } from '../../parts/overlays/menu.tsx'
import { RemovableChip } from '../../parts/page/filter_chip.tsx'
import { texts } from '../../texts/index.ts'
import { Chart } from './chart.tsx'
import { isFiltered, useFilters } from './filters.ts'
import { periodOf, USUAL_PERIOD } from './period.ts'
import { PeriodMenu } from './period_menu.tsx'
import type { ProjectNames } from './projects.ts'
import { type AuditFilters, filterNames } from './search.ts'
import { chosenOf, suggestionsFor } from './suggestions.ts'
import type { useNames } from './summary.ts'
import { valueText } from './value_text.ts'

const words = texts.audit

export const SEEN = 'seen'

type Props = {
  workspaceId: string
  names: ReturnType<typeof useNames>
  projects: ProjectNames
  filterChoices: readonly MenuChoice[]
}

export function Toolbar({ workspaceId, names, projects, filterChoices }: Props) {
  const { filters, change, toggle, clear } = useFilters()
  const isPhone = usePhone()
  const choose = (id: string) => {
    const { name, value } = chosenOf(id)
    if (!filters[name]?.split(',').includes(value)) toggle(name, value)
  }
  return (
    <div className="-mb-1 flex w-full min-w-0 flex-col gap-2.5">
      <div className="flex items-center gap-2 phone:flex-wrap">
        <SuggestField
          label={words.search}
          placeholder={isPhone ? words.searchHintShort : words.searchHint}
          suggest={(text) => suggestionsFor(text, names)}
          onChoose={choose}
        />
        <PeriodMenu filters={filters} onChange={change} />
        <div className="contents phone:hidden">
          <Chips {...{ filters, projects, change }}>
            <FilterButton choices={filterChoices} />
          </Chips>
          {canClear(filters) ? (
            <Button kind="ghost" onPress={clear}>
              {words.clear}
            </Button>
          ) : null}
        </div>
        {isFiltered(filters) ? (
          <div className="hidden w-full phone:flex">
            <Chips {...{ filters, projects, change }} />
          </div>
        ) : null}
      </div>
      <Chart workspaceId={workspaceId} />
    </div>
  )
}

function canClear(filters: AuditFilters): boolean {
  return isFiltered(filters) || periodOf(filters) !== USUAL_PERIOD
}

type ChipsProps = {
  filters: AuditFilters
  projects: ProjectNames
  change: ReturnType<typeof useFilters>['change']
  children?: React.ReactNode
}

function Chips({ filters, projects, change, children }: ChipsProps) {
  return (
    <div className="flex min-w-0 flex-1 items-center gap-2 overflow-x-auto p-0.5">
      {filterNames.map((name) => {
        const value = filters[name]
        if (value === undefined) return null
        return (
          <RemovableChip
            key={name}
            label={words.chip(words.names[name], valueText(name, value, projects))}
            onRemove={() => change({ [name]: undefined, open: undefined })}
          />
        )
      })}
      {children}
      {filters.credential && !filters.credential.includes(',') ? (
        <Button kind="ghost" size="small" icon={Eye} onPress={() => change({ open: SEEN })}>
          {words.seen.open}
        </Button>
      ) : null}
    </div>
  )
}

function FilterButton({ choices }: { choices: readonly MenuChoice[] }) {
  return (
    <MenuAround
      label={words.filter}
      choices={choices}
      trigger={
        <AriaButton className="inline-flex h-7 shrink-0 items-center gap-1 rounded-full border border-line px-2.5 font-medium text-ink-2 hover:bg-hover">
          <Icon of={Plus} size={13} />
          {words.filter}
        </AriaButton>
      }
    />
  )
}
