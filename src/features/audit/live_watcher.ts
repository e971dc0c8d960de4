/** A live-feed subscriber. Its queue is bounded; slow subscribers are disconnected with the ID to resume from. */
import { endsWithin } from '../../core/async/timeout.ts'
import { Fault, type FaultCode } from '../../core/fault.ts'
import type { Grant } from '../../core/grant.ts'
import { jsonOf } from './export.ts'
import type { ShownRecord } from './live_queries.ts'

/** Milliseconds between keep-alive lines, so that proxies do not close an idle stream. */
const HEARTBEAT_MS = 15_000
/** Characters that wait for one who reads slowly. */
const MAX_WAITING = 1_048_576

/** Confirms that session, membership and role are still there. */
export type ConfirmAccess = () => Promise<Grant<'audit.read'>>

export class Watcher {
  readonly userId: string
  readonly confirm: ConfirmAccess
  readonly #heartbeatMs: number
  #waiting: string[] = []
  #length = 0
  #end: FaultCode | undefined
  #wake = () => {}

  constructor(userId: string, confirm: ConfirmAccess, heartbeatMs = HEARTBEAT_MS) {
    this.userId = userId
    this.confirm = confirm
    this.#heartbeatMs = heartbeatMs
  }

  /** The grant, or `null` if it ended. @throws other errors */
  async authorizeAgain(): Promise<Grant<'audit.read'> | null> {
    try {
      return await this.confirm()
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      this.end(error.code)
      return null
    }
  }

  show(records: readonly ShownRecord[]): void {
    if (this.#end !== undefined) return
    const text = recordEvents(records)
    this.#length += text.length
    this.#waiting.push(text)
    if (this.#length > MAX_WAITING) this.end('unavailable')
    this.#wake()
  }

  /** Stops immediately, and drops queued records. */
  end(why: FaultCode): void {
    this.#end ??= why
    this.#waiting = []
    this.#wake()
  }

  /** The sent events until the end, then its reason. */
  async *texts(): AsyncGenerator<string, void> {
    while (this.#end === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      const isThere = this.#waiting.length > 0 || (await endsWithin(this.#heartbeatMs, promise))
      const text = this.#waiting.splice(0).join('')
      this.#length = 0
      if (this.#end === undefined) yield isThere ? text : ': still here\n\n'
    }
    yield endEvent(this.#end)
  }
}

/** The last event of a stream, with the reason. */
export function endEvent(code: FaultCode): string {
  return `event: end\ndata: ${JSON.stringify({ error_code: code })}\n\n`
}

/** Server-sent events as HTML defines them. JSON contains no line breaks. */
export function recordEvents(records: readonly ShownRecord[]): string {
  return records.map((record) => `id: ${record.id}\ndata: ${jsonOf(record)}\n\n`).join('')
}
