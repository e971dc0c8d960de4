/** Figures by day as lines. What they come to is in the text beside it: the drawing is for eyes alone. */
import { useEffect, useRef } from 'react'
import Plot from 'uplot'

export type ChartLine = {
  label: string
  values: readonly number[]
  tone: 'accent' | 'warning' | 'danger'
}

type Props = {
  label: string
  /** What the drawing shows, for who does not see it. */
  text: string
  /** Days such as `2026-11-22`, oldest first. */
  days: readonly string[]
  lines: readonly ChartLine[]
}

const HEIGHT = 160
/** Seconds. */
const DAY = 86_400

export function Chart({ label, text, days, lines }: Props) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = place.current
    if (!element || days.length === 0) return
    const plot = draw(element, days, lines)
    const fit = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: HEIGHT }),
    )
    fit.observe(element)
    return () => {
      fit.disconnect()
      plot.destroy()
    }
  }, [days, lines])
  return (
    <figure className="chart">
      <figcaption>
        <strong>{label}</strong> <span className="soft">{text}</span>
      </figcaption>
      {days.length === 0 ? null : <div ref={place} aria-hidden="true" />}
    </figure>
  )
}

function draw(element: HTMLElement, days: readonly string[], lines: readonly ChartLine[]): Plot {
  // A canvas takes no variables and no light-dark().
  const colour = (name: string) => {
    element.style.color = `var(--${name})`
    return getComputedStyle(element).color
  }
  const axis = {
    stroke: colour('ink-soft'),
    grid: { stroke: colour('border'), width: 1 },
    ticks: { show: false },
  }
  const series = lines.map(({ label, tone }) => ({
    label,
    stroke: colour(tone),
    width: 2,
    points: { show: days.length < 2 },
  }))
  const seconds = days.map((day) => Date.parse(day) / 1000)
  const data: Plot.AlignedData = [seconds, ...lines.map(({ values }) => [...values])]
  const options: Plot.Options = {
    width: element.clientWidth,
    height: HEIGHT,
    series: [{}, ...series],
    axes: [axis, { ...axis, size: 56 }],
    scales: {
      // Not the range that uPlot suggests: it stretches a single day to a thousand.
      x: { range: () => rangeOf(seconds) },
      y: { range: (_, __, most) => [0, Math.max(1, most)] },
    },
    legend: { show: false },
    cursor: { show: false },
  }
  return new Plot(options, data, element)
}

/** From the first day to the last, in seconds; a single day has a day on each side. */
function rangeOf(seconds: readonly number[]): [number, number] {
  const [first = 0, last = first] = [seconds[0], seconds.at(-1)]
  return first === last ? [first - DAY, last + DAY] : [first, last]
}
