/** Filters the agents by a word and by their state. */

import { SearchField } from '../../parts/fields/search_field.tsx'
import { FilterChip, FilterChips } from '../../parts/page/filter_chip.tsx'
import { texts } from '../../texts/index.ts'
import { type AgentRow, type Chip, chips, isInChip } from './rows.ts'

const words = texts.agents

type Props = {
  /** Null until they are read. */
  rows: readonly AgentRow[] | null
  find: string
  setFind(find: string): void
  chip: Chip
  setChip(chip: Chip): void
}

export function AgentToolbar({ rows, find, setFind, chip, setChip }: Props) {
  return (
    <>
      <SearchField
        label={words.find}
        placeholder={words.find}
        value={find}
        onChange={setFind}
        shortcut="/"
      />
      <FilterChips label={words.show}>
        {chips.map((id) => (
          <FilterChip
            key={id}
            label={words.chips[id]}
            count={rows?.filter((row) => isInChip(id, row)).length ?? null}
            isSelected={chip === id}
            {...(id === 'soon' ? { tone: 'amber' as const } : {})}
            onPress={() => setChip(id)}
          />
        ))}
      </FilterChips>
    </>
  )
}
