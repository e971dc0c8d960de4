/** The last hour in four figures and a histogram. Each figure has its own width, so a new one moves nothing. */
import { Stat } from '../../parts/page/stat.tsx'
import { texts } from '../../texts/index.ts'
import { Histogram } from './histogram.tsx'
import type { LastHour } from './last_hour.ts'

const words = texts.live

export function Figures({ hour }: { hour: LastHour }) {
  const { figures, bars } = hour
  const text = (name: 'calls' | 'allowed' | 'refused') => figures && words.number(figures[name])
  return (
    <div className="flex shrink-0 items-end justify-between gap-4 px-5 pt-2 phone:px-4">
      <div className="grid auto-cols-[minmax(72px,auto)] grid-flow-col gap-6 phone:flex-1 phone:auto-cols-fr phone:gap-2">
        <Stat value={text('calls')} label={words.figures.calls} />
        <Stat value={text('allowed')} label={words.figures.allowed} />
        <Stat
          value={text('refused')}
          label={words.figures.refused}
          tone={figures && figures.refused > 0 ? 'red' : undefined}
        />
        <Stat value={figures && medianText(figures)} label={words.figures.median} />
      </div>
      <Histogram bars={bars} label={words.histogram} />
    </div>
  )
}

function medianText({ median }: NonNullable<LastHour['figures']>): string {
  return median === null ? words.noFigure : words.took(median)
}
