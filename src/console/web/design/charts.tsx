/** Stacked bars with 0, 1, 2, 14 and 90 days. */
import { useState } from 'react'
import { StackedBars } from '../parts/show/stacked_bars.tsx'
import { Specimen } from './specimen.tsx'

const COUNTS = [0, 1, 2, 14, 90]
const DAY_MS = 86_400_000
const LAST = Date.parse('2026-11-25')

const daysFor = (count: number) =>
  Array.from({ length: count }, (_, at) =>
    new Date(LAST - (count - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  )

export function Charts() {
  return (
    <Specimen
      of={['show/stacked_bars']}
      rule="Days as bars, right for 0 to 90 of them; drag or use arrow keys to choose days."
      isWide
    >
      <div className="flex flex-col gap-6">
        {COUNTS.map((count) => (
          <Chart key={count} count={count} />
        ))}
      </div>
    </Specimen>
  )
}

function Chart({ count }: { count: number }) {
  const [selected, setSelected] = useState<{ from: string; to: string }>()
  const days = daysFor(count)
  return (
    <StackedBars
      label={`Calls of ${count} days`}
      text={`${count} days`}
      days={days}
      series={[
        { label: 'Allowed', tone: 'accent', values: days.map((_, at) => 40 + ((at * 37) % 90)) },
        { label: 'Refused', tone: 'red', values: days.map((_, at) => (at * 7) % 11) },
        { label: 'Failed', tone: 'amber', values: days.map((_, at) => (at % 3 === 0 ? 4 : 0)) },
      ]}
      selected={selected}
      onBrush={(from, to) => setSelected({ from, to })}
    />
  )
}
