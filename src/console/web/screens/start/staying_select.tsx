/** When the keys lock in this browser: after 15 idle minutes, or at a chosen time. */
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

/** The choice that leads to this end. */
export function findStayingAt(until: number | null): StayingId {
  if (until === null) return 'idle'
  return until - Date.now() > HOURS.day * 3_600_000 ? 'week' : 'day'
}

type Props = { value: StayingId; onChange(id: StayingId): void; isLabelHidden?: boolean }

export function StayingSelect({ value, ...rest }: Props) {
  return (
    <>
      <Select label={words.label} options={options} value={value} {...rest} />
      {value === 'idle' ? null : <p className="text-small text-ink-2">{words.what}</p>}
    </>
  )
}
