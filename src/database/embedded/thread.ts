/**
 * Runs PostgreSQL in a thread. Every request is answered or refused, even if the thread fails, and an unexpected exit
 * is reported.
 */
import { endsWithin } from '../../core/async/timeout.ts'
import { workerAddress } from '../../core/worker_address.ts'
import type { OpenOrder, Order, Report } from './worker_messages.ts'

/** Long enough for a last checkpoint on a slow disk. A thread in an endless loop never responds. */
const CLOSE_TIMEOUT_MS = 30_000
/** After PostgreSQL aborted, the thread may never answer again. */
const FAILED_CLOSE_TIMEOUT_MS = 2_000

export class DatabaseThread {
  readonly #worker = new Worker(workerAddress('database/embedded/worker'))
  readonly #waiting = new Map<Report['kind'], PromiseWithResolvers<Report>>()
  #closing: Promise<boolean> | undefined
  #failure: string | undefined
  #onFailure: (reason: string) => void = () => undefined

  constructor() {
    const worker = this.#worker
    worker.addEventListener('message', (event: MessageEvent<Report>) => this.#onReport(event.data))
    worker.addEventListener('error', (event) => this.#fail(event.message))
    worker.addEventListener('close', () => this.#fail('the database thread exited'))
  }

  /** @throws {Error} with PostgreSQL's message. */
  async open(order: OpenOrder): Promise<void> {
    await this.#ask(order, 'opened')
  }

  async countSyncs(): Promise<number> {
    const report = await this.#ask({ kind: 'count_syncs' }, 'sync_count')
    return report.kind === 'sync_count' ? report.count : 0
  }

  /** @param onFailure called once, unless the thread is being closed. */
  watch(onFailure: (reason: string) => void): void {
    this.#onFailure = onFailure
    if (this.#failure !== undefined) onFailure(this.#failure)
  }

  /**
   * Closes the database. Never throws: the next start recovers a database that cannot be closed.
   *
   * @returns whether the database is closed for certain.
   */
  close(): Promise<boolean> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<boolean> {
    const closed = this.#ask({ kind: 'close' }, 'closed')
    const timeoutMs = this.#failure === undefined ? CLOSE_TIMEOUT_MS : FAILED_CLOSE_TIMEOUT_MS
    const stopped = await endsWithin(timeoutMs, closed).catch(() => false)
    this.#worker.terminate()
    return stopped
  }

  #onReport(report: Report): void {
    if (report.kind === 'failed') this.#fail(report.reason)
    this.#waiting.get(report.kind)?.resolve(report)
    this.#waiting.delete(report.kind)
  }

  #fail(reason: string): void {
    for (const { reject } of this.#waiting.values()) reject(new Error(reason))
    this.#waiting.clear()
    if (this.#failure !== undefined || this.#closing) return
    this.#failure = reason
    this.#onFailure(reason)
  }

  #ask(order: Order, answer: Report['kind']): Promise<Report> {
    const pending = this.#waiting.get(answer) ?? Promise.withResolvers<Report>()
    this.#waiting.set(answer, pending)
    this.#worker.postMessage(order)
    return pending.promise
  }
}
