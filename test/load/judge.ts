/** The verdict of a run: whether memory and open files grow, and whether too many requests failed. Pure. */
import { median } from '../bench/measure.ts'

export type Sample = {
  /** Since the load began. */
  seconds: number
  /** The memory of all processes of the server together. */
  residentMb: number
  openFiles: number
}

export type Verdict = { what: string; isGood: boolean; why: string }

/** In a shorter window the compiler and the collector are still active, and connections are still opened. */
const MIN_WINDOW_SECONDS = 60
/** Growth within the window that may be noise: a share of the total, and at least this amount. */
const MEMORY = { share: 0.1, least: 16 }
/** Clients' connections come and go with pools; each one's connections count. */
const OPEN_FILES = { share: 0.05, least: 8 }
const MAX_FAILED_SHARE = 0.001

/** The last two thirds of the samples: earlier, caches and compiled code are still created. */
export function judge(
  samples: readonly Sample[],
  { answers, failures }: { answers: number; failures: number },
): Verdict[] {
  const window = samples.slice(Math.ceil(samples.length / 3))
  const seconds = (window.at(-1)?.seconds ?? 0) - (window[0]?.seconds ?? 0)
  const grown = (read: (sample: Sample) => number) =>
    slope(window.map((sample) => [sample.seconds, read(sample)])) * seconds
  const memory = grown(({ residentMb }) => residentMb)
  const files = grown(({ openFiles }) => openFiles)
  const failed = answers === 0 ? 1 : failures / answers
  const tooShort =
    seconds < MIN_WINDOW_SECONDS && `not judged: ${seconds.toFixed(0)} s are too short for that`
  const during = `in the last ${seconds.toFixed(0)} s`
  return [
    {
      what: 'memory',
      isGood: tooShort !== false || memory <= bound(MEMORY, window, 'residentMb'),
      why:
        tooShort || `${signed(memory)} MB ${during}, ${signed((memory * 60) / seconds)} a minute`,
    },
    {
      what: 'open files',
      isGood: tooShort !== false || files <= bound(OPEN_FILES, window, 'openFiles'),
      why: tooShort || `${signed(files)} ${during}`,
    },
    {
      what: 'failures',
      isGood: failed <= MAX_FAILED_SHARE,
      why: `${failures} of ${answers}`,
    },
  ]
}

type Bound = { share: number; least: number }

function bound({ share, least }: Bound, window: readonly Sample[], of: 'residentMb' | 'openFiles') {
  return Math.max(least, share * median(window.map((sample) => sample[of])))
}

/** Theil and Sen: the median of the slopes between all pairs, on which outliers have little effect. */
export function slope(points: readonly (readonly [number, number])[]): number {
  // A point every few seconds is enough: pairs grow with the square.
  const step = Math.ceil(points.length / 300)
  const sampled = points.filter((_, index) => index % step === 0)
  const slopes = sampled.flatMap(([x, y], index) =>
    sampled.slice(index + 1).map(([laterX, laterY]) => (laterY - y) / (laterX - x)),
  )
  return slopes.length === 0 ? 0 : median(slopes)
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`
}
