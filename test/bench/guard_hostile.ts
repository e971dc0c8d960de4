/**
 * The time that the leak guard takes for answers that an upstream crafted for the values of a call: every value of
 * `test/leak_guard/hostile.ts`, and texts of it in every searched encoding. Each is measured next to prose and
 * compared as a ratio, because the machine may be busy.
 */
import { type CallGuard, prepareGuard } from '../../src/leak_guard/guard.ts'
import { HOSTILE, hostileText, WRITINGS } from '../leak_guard/hostile.ts'
import { cpuMs, figure, markdownTable, median } from './measure.ts'

/** Bytes of an answer: shorter ones would mainly measure opening the decoders. */
const BYTES = 131_072
const PER_MB = 1_048_576 / BYTES
const SHOWN = 12
/** Rounds of the first rows for the compiler. */
const WARM_UP = 3
const PROSE = 'The quick brown fox jumps over the lazy dog, and nobody minds.\n'

type Row = { value: string; writing: string; unit: string; ms: number }

export function benchHostileAnswers(rounds: number): void {
  const prose = new Uint8Array(Buffer.alloc(BYTES, PROSE))
  warmUp(prose)
  const ordinary: number[] = []
  const rows: Row[] = []
  for (const [value, { values, units }] of Object.entries(HOSTILE)) {
    const guard = guardOf(values)
    for (const [writing, write] of Object.entries(WRITINGS)) {
      for (const unit of units) {
        rows.push({
          value,
          writing,
          unit,
          ms: leastMs(guard, hostileText(unit, write, BYTES), rounds),
        })
      }
      ordinary.push(leastMs(guard, prose, rounds))
    }
  }
  report(
    rows.toSorted((a, b) => b.ms - a.ms),
    median(ordinary),
  )
}

function warmUp(prose: Uint8Array): void {
  const { values, units } = Object.values(HOSTILE)[0] ?? { values: [], units: [] }
  const guard = guardOf(values)
  const texts = units.flatMap((unit) =>
    Object.values(WRITINGS).map((write) => hostileText(unit, write, BYTES)),
  )
  for (let round = 0; round < WARM_UP; round++)
    for (const text of [prose, ...texts]) guard.body(text)
}

function report(rows: readonly Row[], prose: number): void {
  const cells = ({ value, writing, unit, ms }: Row) => [
    value,
    `${writing} of ${JSON.stringify(unit.slice(0, 16))} (${unit.length})`,
    figure(ms),
    figure(ms / prose),
  ]
  const head = ['values', 'an answer of', 'CPU ms per MB', 'times prose']
  const isWorst = ({ value }: Row, at: number) =>
    rows.findIndex((row) => row.value === value) === at
  const worst = rows.filter(isWorst)
  const at = (share: number) => figure((rows[Math.floor(share * rows.length)]?.ms ?? 0) / prose)
  process.stdout.write(
    `${rows.length} answers made for values; prose ${figure(prose)} CPU ms per MB. Times prose: ` +
      `median ${at(0.5)}, one in ten over ${at(0.1)}, one in a hundred over ${at(0.01)}\n\n` +
      `${markdownTable(head, rows.slice(0, SHOWN).map(cells))}\n\n` +
      `The worst of each value:\n\n` +
      `${markdownTable(head, worst.map(cells))}\n\n`,
  )
}

/** The minimum of a few rounds, because other programs use the machine and the compiler runs at first. */
function leastMs(guard: CallGuard, text: Uint8Array, rounds: number): number {
  return (
    PER_MB * Math.min(...Array.from({ length: rounds }, () => cpuMs(() => void guard.body(text))))
  )
}

function guardOf(values: readonly string[]): CallGuard {
  const named = values.map((value, at) => ({
    name: `K${at}`,
    bytes: new Uint8Array(Buffer.from(value)),
  }))
  return prepareGuard(named).forCall()
}
