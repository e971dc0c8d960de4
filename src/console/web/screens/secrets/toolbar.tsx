/** Filters of the matrix: by name and by chip. Both are in the address. */
import { memo, useEffect, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { SearchField } from '../../parts/fields/search_field.tsx'
import { FilterChip, FilterChips } from '../../parts/page/filter_chip.tsx'
import { FilterMenu } from '../../parts/page/filter_menu.tsx'
import { texts } from '../../texts/index.ts'
import { type FilterId, filterIds } from './filters.ts'
import { useGo, useParameter } from './place.ts'

const words = texts.matrix
/** Milliseconds until the typed text is in the address. */
const TYPING_MS = 300
/** Shown even if no secret matches. */
const ALWAYS: readonly FilterId[] = ['all', 'missing', 'different']
/** In a menu, so that the chips stay in one line. */
const MORE: readonly FilterId[] = ['approval', 'renewing', 'reconnect']
const URGENT: readonly FilterId[] = ['missing', 'unreadable']

export function useFilterId(): FilterId {
  const show = useParameter('show')
  return filterIds.find((id) => id === show) ?? 'all'
}

type Props = {
  find: string
  onFind(find: string): void
  counts: Readonly<Record<FilterId, number>>
}

export function SecretsToolbar({ find, onFind, counts }: Props) {
  return (
    <>
      <SearchField
        label={words.find}
        placeholder={words.findAmong(counts.all)}
        value={find}
        onChange={onFind}
        shortcut="/"
      />
      <Filters counts={counts} />
    </>
  )
}

/** A letter typed into the field renders none of it again. */
const Filters = memo(function Filters({ counts }: Pick<Props, 'counts'>) {
  const go = useGo()
  const chosen = useFilterId()
  const present = filterIds.filter((id) => ALWAYS.includes(id) || counts[id] > 0 || id === chosen)
  const shown = present.filter((id) => !MORE.includes(id))
  const more = present.filter((id) => MORE.includes(id))
  return (
    <>
      <div className="min-w-0 phone:flex-1">
        <FilterChips label={words.filters}>
          {shown.map((id) => (
            <FilterChip
              key={id}
              label={words.filter[id]}
              count={counts[id]}
              isSelected={id === chosen}
              {...(URGENT.includes(id) && counts[id] > 0 ? { tone: 'amber' } : {})}
              onPress={() => go({ show: id === 'all' || id === chosen ? undefined : id }, true)}
            />
          ))}
          {more.length > 0 ? (
            <FilterMenu
              label={words.moreFilters}
              anyLabel={words.filter.all}
              options={more.map((id) => words.filter[id])}
              value={more.includes(chosen) ? words.filter[chosen] : undefined}
              onChange={(label) =>
                go({ show: more.find((id) => words.filter[id] === label) }, true)
              }
            />
          ) : null}
        </FilterChips>
      </div>
      <span className="ml-auto phone:hidden">
        <Button kind="ghost" onPress={() => go({ pane: 'compare', key: undefined })}>
          {words.compare}
        </Button>
      </span>
    </>
  )
})

/** Filters while it is typed; the address follows a moment later. */
export function useFind() {
  const start = useParameter('find') ?? ''
  const [find, setFind] = useState(start)
  const go = useGo()
  useEffect(() => {
    if (find === start) return
    const write = setTimeout(() => go({ find: find === '' ? undefined : find }, true), TYPING_MS)
    return () => clearTimeout(write)
  }, [find, start, go])
  return [find, setFind] as const
}
