/** The last hour in four figures and a histogram. Each figure has its own width, so a new one moves nothing. */
import { Stat } from '../../parts/page/stat.tsx'
import { texts } from '../../texts/index.ts'
import type { LastHour } from './last_hour.ts'

const words = texts.live

export function Figures({ hour }: { hour: LastHour }) {
  const { calls, allowed, refused, median, bars } = hour
  return (
    <div className="flex shrink-0 items-end justify-between gap-4 px-5 pt-2.5 phone:px-4">
      <div className="grid auto-cols-[minmax(72px,auto)] grid-flow-col gap-6 phone:flex-1 phone:auto-cols-fr phone:gap-2">
        <Stat value={words.number(calls)} label={words.figures.calls} />
        <Stat value={words.number(allowed)} label={words.figures.allowed} />
        <Stat
          value={words.number(refused)}
          label={words.figures.refused}
          tone={refused > 0 ? 'red' : undefined}
        />
        <Stat
          value={median === null ? words.noFigure : words.took(median)}
          label={words.figures.median}
        />
      </div>
      <Histogram bars={bars} />
    </div>
  )
}

const HEIGHT = 40
const WIDTH = 8
const GAP = 3
const MIN_HEIGHT = 2

function Histogram({ bars }: Pick<LastHour, 'bars'>) {
  const most = Math.max(1, ...bars.map(({ passed, refused }) => passed + refused))
  const height = (count: number) => (count === 0 ? 0 : Math.max(3, (count / most) * (HEIGHT - 2)))
  return (
    <svg
      role="img"
      aria-label={words.histogram}
      width={bars.length * (WIDTH + GAP) - GAP}
      height={HEIGHT}
      className="shrink-0 max-wide:hidden"
    >
      {bars.map(({ passed, refused }, at) => {
        const base = Math.max(MIN_HEIGHT, height(passed))
        const top = height(refused)
        const place = { x: at * (WIDTH + GAP), width: WIDTH, rx: 2 }
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
