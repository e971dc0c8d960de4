/**
 * A deadline that signs of life extend, and that leaves no timer behind. Work that is no longer wanted or permitted
 * also ends with it.
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

  /** Whether the work was ended because the caller does not want it, and not because it took too long. */
  get isUnwanted(): boolean {
    return this.#unwanted
  }

  /** Whether the time is over, and not the wish for the work. */
  get isLate(): boolean {
    return this.signal.aborted && !this.#unwanted && this.#refusal === null
  }

  /** The reason why the work is no longer permitted, if that ended it. */
  get refusal(): Fault | null {
    return this.#refusal
  }

  /** Counts again from now. */
  putOff(): void {
    if (!this.signal.aborted) this.#timer.restart()
  }

  /** Stops counting until the returned function is called, which begins the whole time again. */
  pause(): () => void {
    this.#timer.cancel()
    return () => {
      if (!this.#over) this.#timer = this.#start()
    }
  }

  /** Returns the body. Each piece of it is a sign of life. */
  watch(body: CallBody): CallBody {
    if (body === null || 'bytes' in body) return body
    const transform = (chunk: Uint8Array, controller: TransformStreamDefaultController) => {
      this.putOff()
      controller.enqueue(chunk)
    }
    return { ...body, stream: body.stream.pipeThrough(new TransformStream({ transform })) }
  }

  /** Extends the deadline with each chunk that is read. */
  async *watched(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
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

  /** Calls back once, when the work is done, late or no longer wanted, or now if it already is. */
  afterwards(callback: () => void): void {
    if (this.#over) callback()
    else this.#afterwards.push(callback)
  }

  /** Runs work that is no longer wanted when it fails; also releases an answer that is refused half-way. */
  async during<T>(work: () => Promise<T>): Promise<T> {
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

  /** Ends work that is no longer wanted. */
  abort(): void {
    this.clear()
    if (this.signal.aborted) return
    this.#unwanted = true
    this.#controller.abort(new DOMException('not wanted', 'AbortError'))
  }

  /** Ends work that is no longer permitted; has no effect if it is done. */
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
