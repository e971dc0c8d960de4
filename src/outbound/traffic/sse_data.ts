/** The data of server-sent events as it arrives, without holding an event. */

type Options = {
  data(bytes: Uint8Array): void
  /** An event ended. */
  end(): void
}

const [LF, CR, SPACE] = [0x0a, 0x0d, 0x20] as const
const FIELD = new TextEncoder().encode('data:')

export class SseData {
  readonly #options: Options
  /** Bytes of `data:` that the current line has matched; -1 for a line of another field. */
  #matched = 0
  #isEmpty = true
  #wasCr = false

  constructor(options: Options) {
    this.#options = options
  }

  push(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length) {
      if (this.#matched !== FIELD.length) {
        this.#scanOutside(bytes[at] ?? 0)
        at += 1
        continue
      }
      const end = lineEnd(bytes, at)
      if (end > at) this.#options.data(bytes.subarray(at, end))
      this.#wasCr = false
      if (end < bytes.length) this.#endLine(bytes[end] ?? 0)
      at = end + 1
    }
  }

  #scanOutside(byte: number): void {
    const isSecondHalf = byte === LF && this.#wasCr
    this.#wasCr = false
    if (isSecondHalf) return
    if (byte === LF || byte === CR) {
      if (this.#isEmpty) this.#options.end()
      this.#endLine(byte)
      return
    }
    this.#isEmpty = false
    if (this.#matched >= 0) this.#matched = byte === FIELD[this.#matched] ? this.#matched + 1 : -1
  }

  #endLine(byte: number): void {
    // A line break inside of an event is white space in its JSON.
    if (this.#matched === FIELD.length) this.#options.data(BREAK)
    this.#matched = 0
    this.#isEmpty = true
    this.#wasCr = byte === CR
  }
}

const BREAK = new Uint8Array([SPACE])

function lineEnd(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] === LF || bytes[at] === CR) return at
  }
  return bytes.length
}
