/** A figure and its unit. */
const TONES = { red: 'text-red', amber: 'text-amber', green: 'text-green' }

type Props = { value: string | number; label: string; tone?: keyof typeof TONES | undefined }

export function Stat({ value, label, tone }: Props) {
  const color = tone ? TONES[tone] : ''
  return (
    <div className="flex flex-col">
      <span className={`text-figure font-semibold tracking-[-0.02em] tabular-nums ${color}`}>
        {value}
      </span>
      <span className="text-small text-ink-3">{label}</span>
    </div>
  )
}
