/**
 * A deadline that activity extends, and that leaves no timer behind. It also ends work that is cancelled or no longer
 * permitted.
 */

import { type PendingTimer, systemTimers } from '../core/async/timers.ts'
import type { Fault } from '../core/fault.ts'
import type { CallBody } from './call.ts'

export class CallDeadline {
  readonly #controller = new AbortController()
  readonly #start: () => PendingTimer
  #timer: PendingTimer
  #unwanted = false
  #refusal: Fault | null = null
  #over = false
  #afterwards: (() => void)[] = []

  constructor(ms: number, timers = systemTimers) {
    this.#start = () =>
      timers.setTimer(ms, () => {
        this.#controller.abort(new DOMException('too late', 'TimeoutError'))
        this.#end()
      })
    this.#timer = this.#start()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether the work was cancelled by the caller, not by the timeout. */
  get isUnwanted(): boolean {
    return this.#unwanted
  }

  /** Whether the work timed out, and was not cancelled. */
  get isLate(): boolean {
    return this.signal.aborted && !this.#unwanted && this.#refusal === null
  }

  /** The reason why the work is no longer permitted, if that ended it. */
  get refusal(): Fault | null {
    return this.#refusal
  }

  /** Restarts the timeout. */
  putOff(): void {
    if (!this.signal.aborted) this.#timer.restart()
  }

  /** Pauses the timeout until the returned function is called, which restarts it. */
  pause(): () => void {
    this.#timer.cancel()
    return () => {
      if (!this.#over) this.#timer = this.#start()
    }
  }

  /** Returns the body. Each chunk restarts the timeout. */
  watch(body: CallBody): CallBody {
    if (body === null || 'bytes' in body) return body
    const transform = (chunk: Uint8Array, controller: TransformStreamDefaultController) => {
      this.putOff()
      controller.enqueue(chunk)
    }
    return { ...body, stream: body.stream.pipeThrough(new TransformStream({ transform })) }
  }

  /** Extends the deadline with each chunk that is read. */
  async *watchChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of chunks) {
      this.putOff()
      yield chunk
    }
  }

  /** Ends the work when `signal` aborts. The signal must be for this deadline only. */
  endWith(signal: AbortSignal): void {
    if (signal.aborted) this.abort()
    else signal.onabort = () => this.abort()
  }

  /** Calls back once when the work is done, late or cancelled, or immediately if it already is. */
  afterwards(callback: () => void): void {
    if (this.#over) callback()
    else this.#afterwards.push(callback)
  }

  /** Runs work, and cancels it if it fails. Also releases a partially received response. */
  async runDuring<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      this.abort()
      throw error
    }
  }

  /** The work is done. */
  clear(): void {
    this.#timer.cancel()
    this.#end()
  }

  /** Cancels the work. */
  abort(): void {
    this.clear()
    if (this.signal.aborted) return
    this.#unwanted = true
    this.#controller.abort(new DOMException('not requested', 'AbortError'))
  }

  /** Ends work that is no longer permitted. Has no effect after it is done. */
  refuse(fault: Fault): void {
    if (this.#over) return
    this.#refusal = fault
    this.clear()
    this.#controller.abort(new DOMException('not permitted', 'AbortError'))
  }

  #end(): void {
    this.#over = true
    const afterwards = this.#afterwards
    this.#afterwards = []
    for (const callback of afterwards) callback()
  }
}
