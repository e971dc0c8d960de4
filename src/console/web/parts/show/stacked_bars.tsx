/** Counts by day as stacked bars, for at most 90 days. Days can be chosen with a pointer or the arrow keys. */
import { texts } from '../../texts/index.ts'
import { SkeletonFigure } from '../page/skeleton.tsx'
import { dayName, labelsFor, slotsFor, ticksFor } from './day_scale.ts'
import { useBrush } from './use_brush.ts'

export type DaySeries = {
  label: string
  values: readonly number[]
  tone: 'accent' | 'red' | 'amber'
}

type Props = {
  /** Names the chart. */
  label: string
  /** Says what the chart shows, in figures. A single series has no other legend. */
  text: string
  /** Such as `2026-11-22`, oldest first. */
  days: readonly string[]
  /** From the bottom up. */
  series: readonly DaySeries[]
  /** The legend has no figures yet. */
  isLoading?: boolean
  /** How many dates fit below the chart. */
  labels?: number | undefined
  /** The other days are faint. */
  selected?: { from: string; to: string } | undefined
  onBrush?: ((from: string, to: string) => void) | undefined
}

const FILLS = {
  accent: 'fill-accent/85',
  red: 'fill-red-solid',
  amber: 'fill-amber-solid',
}
const SQUARES = { accent: 'bg-accent', red: 'bg-red-solid', amber: 'bg-amber-solid' }
/** The share of a slot left and right of its bar. */
const MARGIN = 0.22
/** More do not fit on a phone. */
const PHONE_LABELS = 7
/** More slots are narrower than a date. */
const LEAST_CENTRED = 14
/** Percent of the height between two parts of a bar. */
const GAP = 1.5

const figures = new Intl.NumberFormat('en')

export function StackedBars(props: Props) {
  const { label, text, days, series, isLoading = false, labels, selected, onBrush } = props
  const sums = days.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
  const most = Math.max(0, ...sums)
  return (
    <figure aria-label={label} className="flex flex-col gap-2">
      <figcaption className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <strong className="font-semibold">{text}</strong>
        {series.length > 1 ? <Legend series={series} isLoading={isLoading} /> : null}
      </figcaption>
      {days.length === 0 ? null : (
        <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2 gap-y-1 text-caption text-ink-3">
          <Ticks most={most} />
          <Plot {...{ days, series, most, label, selected, onBrush }} />
          <span />
          <DayLabels days={days} most={labels} />
        </div>
      )}
    </figure>
  )
}

function Legend({ series, isLoading }: Pick<Props, 'series' | 'isLoading'>) {
  return series.map(({ label, values, tone }) => (
    <span key={label} className="inline-flex items-center gap-1.5 text-small text-ink-2">
      <i aria-hidden="true" className={`size-2 rounded-[2px] ${SQUARES[tone]}`} />
      {isLoading ? (
        <>
          {label} <SkeletonFigure />
        </>
      ) : (
        texts.parts.figure(label, figures.format(values.reduce((sum, value) => sum + value, 0)))
      )}
    </span>
  ))
}

/** Has room for `1,000` from the start, so that the plot does not move when figures arrive. */
function Ticks({ most }: { most: number }) {
  return (
    <div aria-hidden="true" className="relative min-w-7 text-right tabular-nums">
      {ticksFor(most).map((tick) => (
        <span
          key={tick}
          className="absolute right-0 translate-y-1/2"
          style={{ bottom: `${(tick / Math.max(1, most)) * 100}%` }}
        >
          {figures.format(tick)}
        </span>
      ))}
      <span className="invisible">{figures.format(most)}</span>
    </div>
  )
}

function DayLabels({ days, most }: { days: readonly string[]; most: number | undefined }) {
  const slots = slotsFor(days.length)
  // A day at the right edge has no room to be centred.
  const isLast = (at: number) => slots > LEAST_CENTRED && at === slots - 1
  const today = new Date().toISOString().slice(0, 10)
  return (
    <div data-days aria-hidden="true" className="relative h-4">
      {labelsFor(days, most).map(({ at, text }, index, all) => (
        <span
          key={at}
          className={`absolute whitespace-nowrap ${isLast(at) ? 'right-0' : '-translate-x-1/2'} ${all.length > PHONE_LABELS && (all.length - 1 - index) % 2 ? 'phone:hidden' : ''}`}
          style={isLast(at) ? undefined : { left: `${((at + 0.5) / slots) * 100}%` }}
        >
          {days[at] === today ? texts.parts.today : text}
        </span>
      ))}
    </div>
  )
}

type PlotProps = Pick<Props, 'days' | 'series' | 'label' | 'selected' | 'onBrush'> & {
  most: number
}

function Plot({ days, series, most, label, selected, onBrush }: PlotProps) {
  const slots = slotsFor(days.length)
  const nameOf = (at: number) => days[at] ?? ''
  const brush = useBrush(days.length, slots, (from, to) => onBrush?.(nameOf(from), nameOf(to)))
  const { range } = brush
  const isFaint = (at: number) => {
    if (range)
      return at < Math.min(range.anchor, range.focus) || at > Math.max(range.anchor, range.focus)
    return selected !== undefined && (nameOf(at) < selected.from || nameOf(at) > selected.to)
  }
  const textOf = (at: number) =>
    texts.parts.dayText(
      dayName(nameOf(at)),
      series.map(({ label: name, values }) =>
        texts.parts.figure(name, figures.format(values[at] ?? 0)),
      ),
    )
  const current = Math.min(range?.focus ?? days.length, days.length - 1)
  const slider = {
    role: 'slider',
    tabIndex: 0,
    'aria-label': label,
    'aria-description': texts.parts.brushHelp,
    'aria-valuemin': 0,
    'aria-valuemax': days.length - 1,
    'aria-valuenow': current,
    'aria-valuetext': textOf(current),
    onKeyDown: brush.onKeyDown,
    onBlur: brush.leave,
    ...brush.pointer,
  }
  return (
    <div
      className="relative h-25 touch-none border-b border-line select-none"
      {...(onBrush ? slider : { 'aria-hidden': true })}
    >
      <svg aria-hidden="true" width="100%" height="100%" className="block overflow-visible">
        {ticksFor(most).map((tick) => (
          <line key={tick} x1="0" x2="100%" className="stroke-line" {...lineAt(tick, most)} />
        ))}
        {days.map((day, at) => (
          <g key={day} className={isFaint(at) ? 'opacity-30' : ''}>
            <title>{textOf(at)}</title>
            {stackOf(series, at, most).map(({ tone, y, height }) => (
              <rect
                key={tone}
                x={`${((at + MARGIN) / slots) * 100}%`}
                width={`${((1 - 2 * MARGIN) / slots) * 100}%`}
                y={`${y}%`}
                height={`${height}%`}
                rx="1.5"
                className={FILLS[tone]}
              />
            ))}
          </g>
        ))}
      </svg>
    </div>
  )
}

function lineAt(tick: number, most: number) {
  const y = `${100 - (tick / Math.max(1, most)) * 100}%`
  return { y1: y, y2: y }
}

/** The parts of one bar in percent from the top, without those that are 0. */
function stackOf(series: readonly DaySeries[], at: number, most: number) {
  let top = 100
  return series.flatMap(({ tone, values }) => {
    const value = values[at] ?? 0
    if (value === 0) return []
    const share = Math.max(GAP + 0.5, (value / Math.max(1, most)) * 100)
    top -= share
    return [{ tone, y: top, height: share - GAP }]
  })
}
