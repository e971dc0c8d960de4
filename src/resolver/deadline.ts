/** A deadline that can be put off by signs of life, and that leaves no timer behind. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #timer: Timer

  constructor(ms: number) {
    this.#timer = setTimeout(() => {
      this.#controller.abort(new DOMException('too late', 'TimeoutError'))
    }, ms)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Counts anew from now. */
  putOff(): void {
    this.#timer.refresh()
  }

  /** The work is done. */
  clear(): void {
    clearTimeout(this.#timer)
  }

  /** The work is not wanted any more. */
  abort(): void {
    this.clear()
    this.#controller.abort(new DOMException('not wanted', 'AbortError'))
  }
}
