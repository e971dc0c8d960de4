/** Warns when a run takes too long for CI, with the files that took most of the time so far. */
import { slowest } from './timings.ts'

/** Minutes; CI should take 30 and is stopped at 90. */
const LIMIT_MINUTES = 40

/** Reads the runtime's output, which names each file before its tests, and each test's milliseconds. */
export class Watchdog {
  readonly #times: Record<string, number> = {}
  readonly #timer: Timer
  #file = ''

  /** @param startedAt milliseconds since the epoch: the start of CI, or of this run */
  constructor(startedAt: number, warn: (text: string) => void) {
    const ms = Math.max(0, startedAt + LIMIT_MINUTES * 60_000 - Date.now())
    this.#timer = setTimeout(() => warn(this.warning()), ms)
    this.#timer.unref()
  }

  read(line: string): void {
    const [, file] = /^(test\/\S+\.test\.tsx?):$/.exec(line) ?? []
    if (file !== undefined) this.#file = file
    const [, ms] = /^\((?:pass|fail)\) .* \[([\d.]+)ms\]$/.exec(line) ?? []
    if (ms !== undefined) this.#times[this.#file] = (this.#times[this.#file] ?? 0) + Number(ms)
  }

  warning(): string {
    const lines = slowest(this.#times, 10).map((line) => `  ${line}\n`)
    return `\nWarning: the run has taken ${LIMIT_MINUTES} minutes. The slowest files so far:\n${lines.join('')}\n`
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}
