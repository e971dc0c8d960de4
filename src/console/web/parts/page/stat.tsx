/** A figure and its unit. */
import { SkeletonFigure } from './skeleton.tsx'

const TONES = { red: 'text-red', amber: 'text-amber', green: 'text-green' }

type Props = {
  /** Null until it is read. */
  value: string | number | null
  label: string
  tone?: keyof typeof TONES | undefined
}

export function Stat({ value, label, tone }: Props) {
  const color = tone ? TONES[tone] : ''
  return (
    <div className="flex flex-col">
      <span className={`text-figure font-semibold tracking-[-0.02em] tabular-nums ${color}`}>
        {value ?? <SkeletonFigure />}
      </span>
      <span className="text-small text-ink-3">{label}</span>
    </div>
  )
}
