/** A run as a table, as CSV and JSON, and as a picture (Apache ECharts). */
import { init } from 'echarts'
import { figure, markdownTable, percentile } from '../bench/measure.ts'
import type { Verdict } from './judge.ts'
import type { Outcome } from './run.ts'

export type Report = ReturnType<typeof reportOf>

export function reportOf(outcome: Outcome, command: string, verdicts: readonly Verdict[]) {
  const { tallies, samples, waits, seconds, serverCpuSeconds, databaseCpuSeconds } = outcome
  const at = bySecond(outcome)
  return {
    command,
    seconds,
    live_events: outcome.liveEvents,
    audit: outcome.audit,
    server_cpu_seconds: serverCpuSeconds,
    database_cpu_seconds: databaseCpuSeconds,
    kinds: [...tallies].map(([kind, tally]) => ({
      kind,
      answers: tally.answers.length,
      per_second: tally.answers.length / seconds,
      p50_ms: tally.latency(50),
      p90_ms: tally.latency(90),
      p99_ms: tally.latency(99),
      max_ms: tally.latency(100),
      failures: Object.fromEntries(tally.failures),
    })),
    waits: Object.fromEntries([...waits].sort(([, one], [, other]) => other - one)),
    verdicts,
    // A sample is taken at the end of its second.
    samples: samples.map((sample) => ({ ...sample, ...at(Math.round(sample.seconds) - 1) })),
  }
}

type Second = { rates: Record<string, number>; p99: Record<string, number> }

/** The answers in each second, in one pass over all answers, of which there may be a million. */
function bySecond({ tallies }: Outcome): (second: number) => Second {
  const kinds = [...tallies].map(([kind, { answers }]) => ({
    kind,
    seconds: Map.groupBy(answers, ({ seconds }) => Math.floor(seconds)),
  }))
  return (second) => {
    const columns = kinds.map(({ kind, seconds }) => {
      const times = (seconds.get(second) ?? []).map(({ tookMs }) => tookMs)
      return { kind, count: times.length, p99: percentile(times, 99) }
    })
    return {
      rates: Object.fromEntries(columns.map(({ kind, count }) => [kind, count])),
      p99: Object.fromEntries(columns.map(({ kind, p99 }) => [kind, p99])),
    }
  }
}

export function tableOf({ kinds }: Report): string {
  const head = ['kind', 'answers', 'per s', 'p50 ms', 'p90 ms', 'p99 ms', 'most ms', 'failures']
  const rows = kinds.map((row) => [
    row.kind,
    String(row.answers),
    ...[row.per_second, row.p50_ms, row.p90_ms, row.p99_ms, row.max_ms].map(figure),
    Object.entries(row.failures)
      .map(([code, count]) => `${count} × ${code}`)
      .join(', ') || '–',
  ])
  return markdownTable(head, rows)
}

const COLUMNS = [
  'seconds',
  'residentMb',
  'openFiles',
  'serverCpu',
  'databaseCpu',
  'connections',
  'commitsPerSecond',
  'walMbPerSecond',
] as const

/** A line for each second. */
export function csvOf({ samples, kinds }: Report): string {
  const names = kinds.map(({ kind }) => kind)
  const head = [
    ...COLUMNS,
    ...names.map((name) => `${name} per s`),
    ...names.map((n) => `${n} p99`),
  ]
  const lines = samples.map((sample) =>
    [
      ...COLUMNS.map((column) => sample[column]),
      ...names.map((name) => sample.rates[name] ?? Number.NaN),
      ...names.map((name) => sample.p99[name] ?? Number.NaN),
    ].map((value) => (Number.isNaN(value) ? '' : String(Number(value.toFixed(3))))),
  )
  return `${[head.map((name) => name.replaceAll(',', '')), ...lines].map((line) => line.join()).join('\n')}\n`
}

// One for each line of the legend.
const COLOURS = [
  '#2563eb',
  '#93c5fd',
  '#16a34a',
  '#d97706',
  '#fbbf24',
  '#9333ea',
  '#dc2626',
  '#0891b2',
  '#64748b',
  '#f472b6',
  '#111827',
  '#4d7c0f',
  '#a16207',
  '#7c3aed',
  '#be123c',
]
const [WIDTH, PANEL, GAP] = [900, 170, 60]

export function pictureOf({ samples, kinds }: Report): string {
  const names = kinds.map(({ kind }) => kind)
  const over = (read: (sample: Report['samples'][number]) => number | undefined) =>
    samples.map((sample) => [sample.seconds, orGap(read(sample))])
  const panels = [
    {
      title: 'answers per second',
      lines: names.map((name) => ({ name, data: over(({ rates }) => rates[name] || undefined) })),
      type: 'log',
    },
    {
      title: 'p99 of each second, ms',
      lines: names.map((name) => ({ name, data: over(({ p99 }) => p99[name]) })),
      type: 'log',
    },
    {
      title: 'memory of the server, MB',
      lines: [{ name: 'resident', data: over(({ residentMb }) => residentMb) }],
      type: 'value',
    },
    {
      title: 'open files of the server, connections of the database',
      lines: [
        { name: 'open files', data: over(({ openFiles }) => openFiles) },
        { name: 'connections', data: over(({ connections }) => connections) },
      ],
      type: 'value',
    },
    {
      title: 'CPU, cores',
      lines: [
        { name: 'server', data: over(({ serverCpu }) => serverCpu) },
        { name: 'database', data: over(({ databaseCpu }) => databaseCpu) },
      ],
      type: 'value',
    },
  ] as const
  const height = panels.length * (PANEL + GAP) + 80
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height })
  const top = (index: number) => index * (PANEL + GAP) + 40
  chart.setOption({
    animation: false,
    color: COLOURS,
    backgroundColor: '#ffffff',
    title: panels.map(({ title }, index) => ({
      text: title,
      left: 60,
      top: top(index) - 30,
      textStyle: { fontSize: 13 },
    })),
    legend: { bottom: 0 },
    grid: panels.map((_, index) => ({ left: 60, right: 20, top: top(index), height: PANEL })),
    xAxis: panels.map((_, gridIndex) => ({
      type: 'value',
      max: 'dataMax',
      gridIndex,
      axisLabel: { formatter: '{value} s' },
    })),
    yAxis: panels.map(({ type }, gridIndex) => ({ type, gridIndex })),
    series: panels.flatMap(({ lines }, index) =>
      lines.map(({ name, data }) => ({
        type: 'line' as const,
        name,
        data,
        xAxisIndex: index,
        yAxisIndex: index,
        showSymbol: false,
        lineStyle: { width: 1 },
      })),
    ),
  })
  const svg = chart.renderToSVGString()
  chart.dispose()
  return svg
}

/** A missing value is not a point. */
function orGap(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value
}
