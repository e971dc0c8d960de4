/** How long the keys stay unlocked in this browser: until nobody works, or to an end that is chosen. */
import { Select } from '../../parts/fields/select.tsx'
import { texts } from '../../texts/index.ts'

const HOURS = { idle: undefined, day: 8, week: 168 }
export type StayingId = keyof typeof HOURS

const words = texts.start.staying
const options = [
  { id: 'idle', label: words.idle },
  { id: 'day', label: words.day },
  { id: 'week', label: words.week },
] as const

export function stayingOf(id: StayingId): { stayHours?: number } {
  const stayHours = HOURS[id]
  return stayHours === undefined ? {} : { stayHours }
}

/** What was chosen, as far as the end tells. */
export function stayingAt(until: number | null): StayingId {
  if (until === null) return 'idle'
  return until - Date.now() > HOURS.day * 3_600_000 ? 'week' : 'day'
}

type Props = { value: StayingId; onChange(id: StayingId): void }

export function StayingSelect({ value, onChange }: Props) {
  return (
    <>
      <Select label={words.label} options={options} value={value} onChange={onChange} />
      {value === 'idle' ? null : <p className="help">{words.what}</p>}
    </>
  )
}
