/**
 * Sends records in the outbox, in batches, in the background. It retries an unavailable server at growing intervals. A
 * permanently refused record is moved to a file, so that it does not block the others.
 */
import { appendFile } from 'node:fs/promises'
import { ApiError } from '../../client/http/api.ts'
import { endsWithin } from '../../core/async/timeout.ts'
import { type PendingTimer, systemTimers, type Timers } from '../../core/async/timers.ts'
import type { ProxyNotice } from '../backend.ts'
import type { Outbox, OutboxOwner, StoredRecord } from './outbox.ts'

/** @throws ApiError when the server refuses, another error when it cannot be reached */
export type Upload = (owner: OutboxOwner, records: readonly StoredRecord[]) => Promise<void>

const PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
/** Status codes that refuse the batch's contents, not the sender. */
const PERMANENT_REFUSALS = [400, 409, 413, 422]

type Options = { upload: Upload; notice: ProxyNotice; refusedFile: string; timers?: Timers }

export class OutboxDelivery {
  readonly #outbox: Outbox
  readonly #options: Required<Options>
  #timer: PendingTimer | null = null
  #running: Promise<boolean> = Promise.resolve(true)
  #pauseMs = PAUSE_MS
  #stopped = false

  constructor(outbox: Outbox, options: Options) {
    this.#outbox = outbox
    this.#options = { timers: systemTimers, ...options }
    this.#schedule()
  }

  /** Sends all records now; returns `false` if some have to wait. */
  flush(): Promise<boolean> {
    this.#running = this.#running.then(() => this.#sendAll())
    return this.#running
  }

  /** A last attempt, of at most `timeoutMs`. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    if (!(await endsWithin(timeoutMs, this.flush(), this.#options.timers))) {
      this.#options.notice('audit records are kept on this machine; the next proxy sends them')
    }
  }

  #schedule(): void {
    if (this.#stopped) return
    const send = () => void this.flush().then(() => this.#schedule())
    this.#timer = this.#options.timers.setTimer(this.#pauseMs, send, { isBackground: true })
  }

  async #sendAll(): Promise<boolean> {
    try {
      for (let batch = this.#outbox.takeNext(); batch; batch = this.#outbox.takeNext()) {
        await this.#send(batch.owner, batch.records)
      }
      if (this.#pauseMs > PAUSE_MS) this.#options.notice('audit records are being sent again')
      this.#pauseMs = PAUSE_MS
      return true
    } catch {
      if (this.#pauseMs === PAUSE_MS) {
        this.#options.notice('audit records are kept on this machine until the server accepts them')
      }
      this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2)
      return false
    }
  }

  /** Halves a batch that is refused for its contents, until the one record is found. */
  async #send(owner: OutboxOwner, batch: readonly StoredRecord[]): Promise<void> {
    try {
      await this.#options.upload(owner, batch)
    } catch (error) {
      if (!(error instanceof ApiError) || !PERMANENT_REFUSALS.includes(error.status)) throw error
      const middle = batch.length >> 1
      if (middle > 0) {
        await this.#send(owner, batch.slice(0, middle))
        return this.#send(owner, batch.slice(middle))
      }
      await this.#putAside(error, batch[0])
    }
    this.#outbox.remove(batch)
  }

  /** Keeps a refused record in a file, with its reason, so that nothing is discarded. */
  async #putAside({ code }: ApiError, record: StoredRecord | undefined): Promise<void> {
    const { refusedFile, notice } = this.#options
    await appendFile(refusedFile, `${JSON.stringify({ code, record })}\n`, { mode: 0o600 })
    notice(`the server rejected an audit record (${code}); it is kept in ${refusedFile}`)
  }
}
