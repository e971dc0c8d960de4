/**
 * `bench resolver` compares the resolver with no proxy, nginx, and a minimal broker on the same runtime. CPU time per
 * request is least affected by the machine's noise.
 */
import { parseArgs } from 'node:util'
import { type Contestant, type FieldOptions, gather } from './contestants.ts'
import { applyLoad } from './load.ts'
import { figure, markdownTable, median } from './measure.ts'
import { drawCharts } from './plot.ts'
import { cpuSeconds, familyCpuSeconds } from './processes.ts'

type Sample = {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Microseconds of the contestant's process, and of the database server, for one request. */
  cpuUs: number
  databaseUs: number
  failures: number
}

const SAMPLE_COLUMNS = ['perSecond', 'p50Ms', 'p99Ms', 'cpuUs', 'databaseUs', 'failures'] as const

/** Time before the first round, with this number of connections. */
const WARM_CONCURRENCY = 16

type Row = { contestant: string; concurrency: number; result: Sample }

export async function benchResolver(args: string[]): Promise<void> {
  const options = readOptions(args)
  const field = await gather(options)
  try {
    const rows = await takeRounds(field.contestants, options)
    process.stdout.write(`${tableOf(rows)}\n`)
    if (options.plot) await Bun.write(options.plot, plotOf(rows))
  } finally {
    await field.clear()
  }
}

type Options = FieldOptions & {
  seconds: number
  rounds: number
  /** For the runtime's compiler, which is active for the first tens of thousands of requests. */
  warmSeconds: number
  levels: number[]
  plot: string
}

const FULL = { seconds: '2', rounds: '5', warm: '10', concurrency: '1,16,64,256' }
/** Enough to detect a difference of ten percent during development. */
const QUICK = { seconds: '2', rounds: '4', warm: '6', concurrency: '16' }

function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      warm: { type: 'string' },
      concurrency: { type: 'string' },
      only: { type: 'string', default: '' },
      plot: { type: 'string', default: '' },
      against: { type: 'string' },
      profile: { type: 'string' },
      executable: { type: 'string' },
    },
  })
  const { seconds, rounds, warm, concurrency } = { ...(values.quick ? QUICK : FULL), ...values }
  return {
    ...values,
    seconds: Number(seconds),
    rounds: Number(rounds),
    warmSeconds: Number(warm),
    levels: concurrency.split(',').map(Number),
    only: new RegExp(values.only),
  }
}

/**
 * Each contestant runs once per round, so that a bad minute of the machine affects all, and each begins some rounds:
 * of two with the same code, the one that was always first used 5 to 9 % more processor time.
 */
async function takeRounds(
  contestants: readonly Contestant[],
  { seconds, rounds, levels, warmSeconds }: Options,
): Promise<Row[]> {
  process.stderr.write('warming up\n')
  for (const { shot } of contestants)
    await applyLoad({ shot, concurrency: WARM_CONCURRENCY, seconds: warmSeconds })
  const samples = new Map<string, Sample[]>()
  for (let round = 1; round <= rounds; round += 1) {
    process.stderr.write(`round ${round} of ${rounds}\n`)
    const first = round % contestants.length
    for (const concurrency of levels) {
      for (const contestant of [...contestants.slice(first), ...contestants.slice(0, first)]) {
        const key = `${contestant.name}/${concurrency}`
        const sample = await takeSample(contestant, concurrency, seconds)
        samples.set(key, [...(samples.get(key) ?? []), sample])
      }
    }
  }
  return levels.flatMap((concurrency) =>
    contestants.map(({ name }) => ({
      contestant: name,
      concurrency,
      result: medianOf(samples.get(`${name}/${concurrency}`) ?? []),
    })),
  )
}

async function takeSample(
  { shot, pid, databasePid }: Contestant,
  concurrency: number,
  seconds: number,
): Promise<Sample> {
  const before = cpuOf(pid, databasePid)
  const { requests, failures, p50Ms, p99Ms, ...took } = await applyLoad({
    shot,
    concurrency,
    seconds,
  })
  const after = cpuOf(pid, databasePid)
  return {
    perSecond: requests / took.seconds,
    p50Ms,
    p99Ms,
    cpuUs: ((after.own - before.own) * 1e6) / requests,
    databaseUs: ((after.database - before.database) * 1e6) / requests,
    failures,
  }
}

function cpuOf(pid: number, databasePid: number | null): { own: number; database: number } {
  const database = databasePid === null ? Number.NaN : familyCpuSeconds(databasePid)
  return { own: cpuSeconds(pid), database }
}

function medianOf(samples: readonly Sample[]): Sample {
  const medians = SAMPLE_COLUMNS.map((column) => [
    column,
    median(samples.map((sample) => sample[column])),
  ])
  return Object.fromEntries(medians)
}

/** Ratios are of CPU time, at the same concurrency. */
function tableOf(rows: readonly Row[]): string {
  const head = ['contestant', 'concurrent', 'per s', 'p50 ms', 'p99 ms', 'CPU µs']
  return markdownTable(
    [...head, '× nginx', '× Go', 'database CPU µs', 'failures'],
    rows.map(({ contestant, concurrency, result }) => {
      const ratioTo = (name: string) => {
        const other = rows.find((row) => row.contestant === name && row.concurrency === concurrency)
        return figure(result.cpuUs / (other?.result.cpuUs ?? Number.NaN))
      }
      return [
        contestant,
        String(concurrency),
        result.perSecond.toFixed(0),
        figure(result.p50Ms),
        figure(result.p99Ms),
        figure(result.cpuUs),
        ratioTo('nginx'),
        ratioTo('Go ReverseProxy'),
        figure(result.databaseUs),
        String(result.failures),
      ]
    }),
  )
}

function plotOf(rows: readonly Row[]): string {
  const names = [...new Set(rows.map(({ contestant }) => contestant))]
  const lines = (column: keyof Sample) =>
    names.map((name) => ({
      name,
      points: rows
        .filter(({ contestant }) => contestant === name)
        .map(({ concurrency, result }) => ({ x: String(concurrency), y: result[column] })),
    }))
  return drawCharts([
    { title: 'CPU time per request, µs', lines: lines('cpuUs') },
    { title: 'Requests per second', lines: lines('perSecond') },
    { title: 'p50, ms', lines: lines('p50Ms') },
  ])
}
