/** Contestants under the same load in turns: medians of rounds, each after a warm-up. */
import { applyLoad, type LoadResult, type Shot } from './load.ts'
import { median } from './measure.ts'
import { cpuSeconds } from './processes.ts'

export const CONCURRENCY = 16

export type Pace = { rounds: number; seconds: number; warmSeconds: number }

export type Contestant = {
  name: string
  pid: number
  /** Processor time of its database, if that runs in other processes. */
  databaseSeconds?: () => number
  applyLoad(seconds: number): Promise<LoadResult>
}

const COLUMNS = ['perSecond', 'p50Ms', 'p99Ms', 'cpuUs', 'databaseUs', 'failures'] as const

/** `cpuUs`, `databaseUs`: microseconds of processor time for each request. */
type Sample = Record<(typeof COLUMNS)[number], number>

/** Medians of the rounds. */
export type Result = Sample & { name: string }

export function loadOf(shot: Shot | undefined): Contestant['applyLoad'] {
  if (!shot) throw new Error('no request')
  return (seconds) => applyLoad({ shot, concurrency: CONCURRENCY, seconds })
}

/** Results in the order of the contestants. */
export async function takeTurns(
  contestants: readonly Contestant[],
  { rounds, seconds, warmSeconds }: Pace,
): Promise<Result[]> {
  const taken = contestants.map((contestant) => ({ contestant, samples: [] as Sample[] }))
  // The compiler is still active for some seconds of load.
  for (const contestant of contestants) await contestant.applyLoad(warmSeconds)
  for (let round = 0; round < rounds; round += 1) {
    // Each contestant begins a round, because the one that is always first uses a few percent more processor time.
    const first = round % taken.length
    for (const { contestant, samples } of [...taken.slice(first), ...taken.slice(0, first)]) {
      samples.push(await takeSample(contestant, seconds))
    }
  }
  return taken.map(({ contestant: { name }, samples }) => ({ name, ...medianOf(samples) }))
}

async function takeSample(contestant: Contestant, seconds: number): Promise<Sample> {
  const { pid, databaseSeconds = () => Number.NaN } = contestant
  const [cpu, database] = [cpuSeconds(pid), databaseSeconds()]
  const { requests, p50Ms, p99Ms, failures, ...took } = await contestant.applyLoad(seconds)
  return {
    perSecond: requests / took.seconds,
    p50Ms,
    p99Ms,
    cpuUs: ((cpuSeconds(pid) - cpu) * 1e6) / requests,
    databaseUs: ((databaseSeconds() - database) * 1e6) / requests,
    failures,
  }
}

function medianOf(samples: readonly Sample[]): Sample {
  const columns = COLUMNS.map((column) => [column, median(samples.map((each) => each[column]))])
  return Object.fromEntries(columns)
}
