/**
 * Keeps a number of workers running. One that ends is started again, after a wait that grows with repeated failures, so
 * that a broken worker does not overload the machine.
 */

import { systemTimers, type Timers } from '../core/async/timers.ts'
import type { Log } from '../core/log.ts'

export type Worker<Ready> = {
  pid: number
  /** Resolves when it serves; stays open if it ends before. */
  ready: Promise<Ready>
  exited: Promise<number>
  kill(signal: 'SIGTERM' | 'SIGKILL' | 'SIGUSR1'): void
}

type Options<Ready> = {
  count: number
  spawn: (index: number) => Worker<Ready>
  log: Log
  timers?: Timers
  now?: () => number
}

const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 10_000
/** Milliseconds after which a worker counts as healthy: its next failure is a first one. */
const HEALTHY_MS = 60_000

/** A worker that ended before all were ready for the first time. */
export class WorkerFailed extends Error {
  readonly code: number

  constructor(code: number) {
    super(`a worker ended with ${code}`)
    this.code = code
  }
}

/** Returns the milliseconds before the next start, after this many failures in a row. */
export function restartWait(failures: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.max(0, failures - 1))
}

export class Supervisor<Ready> {
  readonly #options: Required<Options<Ready>>
  readonly #workers = new Map<number, Worker<Ready>>()
  #stopping = false
  #restarts = false

  constructor(options: Options<Ready>) {
    this.#options = { timers: systemTimers, now: () => Date.now(), ...options }
  }

  /**
   * Starts all workers. Returns their reports once the last is ready. From then on they are replaced.
   *
   * @throws WorkerFailed if one ends before; the others are killed
   */
  async start(): Promise<Ready[]> {
    const failed = Promise.withResolvers<never>()
    const indices = Array.from({ length: this.#options.count }, (_, index) => index)
    const readiness = indices.map((index) => {
      const worker = this.#spawn(index, 0)
      void worker.exited.then((code) => {
        if (!this.#restarts) failed.reject(new WorkerFailed(code))
      })
      return worker.ready
    })
    try {
      const all = await Promise.race([Promise.all(readiness), failed.promise])
      this.#restarts = true
      return all
    } catch (error) {
      await this.stop(0)
      throw error
    }
  }

  /** Stops all workers, and kills those that are running after `timeoutMs`. Returns whether all finished in time. */
  async stop(timeoutMs: number): Promise<boolean> {
    this.#stopping = true
    const running = [...this.#workers.values()]
    const killing = this.#options.timers.setTimer(timeoutMs, () => this.kill())
    for (const worker of running) worker.kill('SIGTERM')
    const codes = await Promise.all(running.map(({ exited }) => exited))
    killing.cancel()
    return codes.every((code) => code === 0)
  }

  /** Makes each worker write a report. */
  report(): void {
    for (const worker of this.#workers.values()) worker.kill('SIGUSR1')
  }

  /** Kills all workers immediately. */
  kill(): void {
    this.#stopping = true
    for (const worker of this.#workers.values()) worker.kill('SIGKILL')
  }

  #spawn(index: number, failures: number): Worker<Ready> {
    const { spawn, log, now } = this.#options
    const worker = spawn(index)
    const startedAt = now()
    this.#workers.set(index, worker)
    log.info('worker started', { worker: index, worker_pid: worker.pid })
    void worker.exited.then((code) => {
      this.#workers.delete(index)
      const recent = now() - startedAt >= HEALTHY_MS ? 1 : failures + 1
      this.#replace(index, recent, { worker: index, worker_pid: worker.pid, code })
    })
    return worker
  }

  #replace(index: number, failures: number, ended: Record<string, number>): void {
    if (this.#stopping || !this.#restarts) return
    const { log, timers } = this.#options
    const waitMs = restartWait(failures)
    log.error('worker ended', { ...ended, restart_in_ms: waitMs })
    timers.setTimer(waitMs, () => {
      if (!this.#stopping) this.#spawn(index, failures)
    })
  }
}
