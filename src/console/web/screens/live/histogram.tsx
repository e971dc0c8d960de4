/** Small bars, oldest first: allowed calls, and refused calls in red. */
export type Bar = { passed: number; refused: number }

const HEIGHT = 40
const WIDTH = 8
const GAP = 3
const MIN_HEIGHT = 2
/** A single call stays visible beside hundreds. */
const MIN_SHARE = 3

type Props = { bars: readonly Bar[]; label: string; isWide?: boolean }

/** `isWide` stretches the bars over the whole width. */
export function Histogram({ bars, label, isWide = false }: Props) {
  const most = Math.max(1, ...bars.map(({ passed, refused }) => passed + refused))
  const height = (count: number) =>
    count === 0 ? 0 : Math.max(MIN_SHARE, (count / most) * (HEIGHT - 2))
  const width = Math.max(1, bars.length * (WIDTH + GAP) - GAP)
  const size = isWide
    ? { width: '100%', height: 72, preserveAspectRatio: 'none' }
    : { width, height: HEIGHT }
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      {...size}
      className={isWide ? 'block' : 'shrink-0 max-wide:hidden'}
    >
      {bars.map(({ passed, refused }, at) => {
        const base = Math.max(MIN_HEIGHT, height(passed))
        const top = height(refused)
        const place = { x: at * (WIDTH + GAP), width: WIDTH, rx: isWide ? 0.5 : 2 }
        return (
          // Bars have no other identity than their order.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <g key={at}>
            <rect {...place} y={HEIGHT - base} height={base} className="fill-line-2" />
            {top > 0 ? (
              <rect
                {...place}
                y={HEIGHT - base - top - 1}
                height={top}
                className="fill-red-solid"
              />
            ) : null}
          </g>
        )
      })}
    </svg>
  )
}
