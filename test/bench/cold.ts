/**
 * `bench cold` measures infrequent callers: the first answer after a start, the processor time of the first thousand
 * calls, and one call after an idle time, beside nginx, Go and a minimal broker.
 */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Contestant, type FieldOptions, fire, gather } from './contestants.ts'
import { applyLoad } from './load.ts'
import { figure, markdownTable, median } from './measure.ts'
import { cpuSeconds } from './processes.ts'

const FIRST_CALLS = 1000
const WARM = { concurrency: 16, seconds: 10 }
const DEFAULT_ONLY =
  '^(direct|nginx|Go ReverseProxy|bare broker, PostgreSQL|ours, PostgreSQL|other, PostgreSQL)$'

type Options = FieldOptions & { rests: number[]; samples: number }

export async function benchCold(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', default: DEFAULT_ONLY },
      executable: { type: 'string' },
      against: { type: 'string' },
      rests: { type: 'string', default: '1,60' },
      samples: { type: 'string', default: '5' },
    },
  })
  const rests = values.rests.split(',').map(Number)
  const options = {
    ...values,
    only: new RegExp(values.only),
    rests,
    samples: Number(values.samples),
  }
  const field = await gather(options)
  try {
    process.stdout.write(`${await measureAll(field.contestants, options)}\n\n`)
    process.stdout.write(`A write of 8 KiB with fdatasync takes ${figure(syncMs())} ms.\n`)
  } finally {
    await field.clear()
  }
}

async function measureAll(
  contestants: readonly Contestant[],
  { rests, samples }: Pick<Options, 'rests' | 'samples'>,
): Promise<string> {
  const rows = new Map<string, string[]>()
  for (const contestant of contestants) rows.set(contestant.name, await measureStart(contestant))
  for (const { shot } of contestants) await applyLoad({ shot, ...WARM })
  for (const seconds of [0, ...rests]) {
    const rested = await measureRest(contestants, seconds, seconds === 0 ? 100 : samples)
    for (const [name, ms] of rested) rows.get(name)?.push(figure(median(ms)))
  }
  const head = ['contestant', 'first answer, ms', `CPU of the first ${FIRST_CALLS} calls, ms`]
  return markdownTable(
    [...head, 'warm, ms', ...rests.map((seconds) => `after ${seconds} s, ms`)],
    [...rows].map(([name, cells]) => [name, ...cells]),
  )
}

async function measureStart(contestant: Contestant): Promise<string[]> {
  const startedAt = await contestant.restart()
  while (!(await isAnswered(contestant))) await Bun.sleep(1)
  const answeredMs = performance.now() - startedAt
  const before = cpuSeconds(contestant.pid)
  for (let call = 0; call < FIRST_CALLS; call += 1) await fire(contestant.shot, call)
  const cpuMs = (cpuSeconds(contestant.pid) - before) * 1000
  return [figure(answeredMs), figure(cpuMs)]
}

async function isAnswered({ shot }: Contestant): Promise<boolean> {
  try {
    return (await fire(shot)).includes('ch_1001')
  } catch {
    return false
  }
}

/** All contestants idle at the same time, and are then called one after the other. */
async function measureRest(
  contestants: readonly Contestant[],
  seconds: number,
  samples: number,
): Promise<Map<string, number[]>> {
  const measured = new Map(contestants.map(({ name }) => [name, [] as number[]]))
  for (let sample = 0; sample < samples; sample += 1) {
    await Bun.sleep(seconds * 1000)
    for (const { name, shot } of contestants) {
      const started = performance.now()
      await fire(shot)
      measured.get(name)?.push(performance.now() - started)
    }
  }
  return measured
}

/** The time that the disk needs to sync a commit. */
function syncMs(): number {
  const path = join(tmpdir(), `cr-bench-sync-${process.pid}`)
  const file = openSync(path, 'w')
  const page = Buffer.alloc(8192, 1)
  const samples = Array.from({ length: 200 }, () => {
    const started = performance.now()
    writeSync(file, page)
    fdatasyncSync(file)
    return performance.now() - started
  })
  closeSync(file)
  rmSync(path)
  return median(samples)
}
