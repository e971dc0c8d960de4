/** Counts of a few days as bars. The label describes them. */
const HEIGHTS = { row: 'h-4 w-16', panel: 'h-11 w-full' }
/** The size of the drawing, which is stretched to its place. */
const SLOT = 10
/** Many bars need a wider gap, or it is less than a pixel. */
const MANY = 10
const GAPS = { row: 2, panel: 0.8 }

type Props = { values: readonly number[]; label: string; size?: keyof typeof HEIGHTS }

export function Sparkline({ values, label, size = 'row' }: Props) {
  const most = Math.max(1, ...values)
  const gap = values.length > MANY ? 4.5 : GAPS[size]
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${Math.max(1, values.length) * SLOT - gap} 100`}
      preserveAspectRatio="none"
      className={`fill-accent/75 ${HEIGHTS[size]}`}
    >
      {values.map((value, at) => {
        // A day without a call keeps a line, so that the days can be counted.
        const height = Math.max(4, (value / most) * 100)
        const place = { x: at * SLOT, y: 100 - height, width: SLOT - gap, height }
        // Days have no other identity than their order.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        return <rect key={at} {...place} />
      })}
    </svg>
  )
}
