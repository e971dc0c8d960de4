/**
 * Each kind of request alone, as fast as possible, on the given number of processes: the cost of one, and where
 * growth stops.
 */
import { figure, markdownTable } from '../bench/measure.ts'
import { type Outcome, run } from './run.ts'
import { type Options, startSubject } from './subject.ts'
import type { Kind } from './traffic.ts'

type Sizing = Omit<Options, 'processes' | 'coldTokens'> & {
  processes: readonly number[]
  kinds: readonly Kind[]
  connections: number
  seconds: number
  warmSeconds: number
}

export async function sizing({ processes, kinds, ...options }: Sizing): Promise<string> {
  const warm = kinds.filter((kind) => kind !== COLD)
  const groups = [warm, kinds.filter((kind) => kind === COLD)].filter(({ length }) => length > 0)
  const rows: string[][] = []
  for (const count of processes) {
    for (const group of groups) rows.push(...(await measure(count, group, options)))
  }
  return markdownTable(HEAD, rows)
}

const COLD: Kind = 'resolve by a cold key'

async function measure(
  processes: number,
  kinds: readonly Kind[],
  { connections, seconds, warmSeconds, ...options }: Omit<Sizing, 'processes' | 'kinds'>,
): Promise<string[][]> {
  const settings = { ...options.settings, ...(kinds.includes(COLD) && { KEY_CACHE_SECONDS: '0' }) }
  const subject = await startSubject({ ...options, processes, coldTokens: 16, settings })
  const rows: string[][] = []
  try {
    for (const driven of kinds) {
      const plan = { driven, connections, isMixed: false }
      await run(subject, { ...plan, seconds: warmSeconds })
      const outcome = await run(subject, { ...plan, seconds })
      const row = [`${driven}, ${processes}`, ...cellsOf(outcome, driven)]
      process.stderr.write(`${row.join('  ')}\n`)
      rows.push(row)
    }
  } finally {
    await subject.stop()
  }
  return rows
}

const HEAD = [
  'kind, processes',
  'per s',
  'p50 ms',
  'p99 ms',
  'CPU ms each',
  'database CPU ms each',
  'cores: server',
  'cores: database',
  'connections',
  'WAL MB/s',
  'MB',
  'failures',
  'active statements, waiting for',
]

function cellsOf(outcome: Outcome, driven: Kind): string[] {
  const tally = outcome.tallies.get(driven)
  const answers = tally?.answers.length ?? 0
  const { serverCpuSeconds, databaseCpuSeconds, seconds } = outcome
  const last = outcome.samples.at(-1)
  return [
    ...[
      answers / seconds,
      tally?.latency(50) ?? Number.NaN,
      tally?.latency(99) ?? Number.NaN,
      (serverCpuSeconds * 1000) / answers,
      (databaseCpuSeconds * 1000) / answers,
      serverCpuSeconds / seconds,
      databaseCpuSeconds / seconds,
      last?.connections ?? Number.NaN,
      last?.walMbPerSecond ?? Number.NaN,
      last?.residentMb ?? Number.NaN,
    ].map(figure),
    String(tally?.failed ?? 0),
    waitsOf(outcome.waits),
  ]
}

/** Shares of the observations, the three most frequent. */
function waitsOf(waits: ReadonlyMap<string, number>): string {
  const all = [...waits.values()].reduce((sum, count) => sum + count, 0)
  const most = [...waits].sort(([, one], [, other]) => other - one).slice(0, 3)
  return most.map(([wait, count]) => `${wait} ${((100 * count) / all).toFixed(0)} %`).join(', ')
}
