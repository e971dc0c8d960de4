/**
 * Finds `usage` objects of model APIs in JSON that arrives in pieces. Only the lexical structure is followed, so an
 * answer of any length takes little memory, and text that a model wrote is never taken for usage. Invalid JSON has no
 * usage.
 */

/** Bytes of one usage object. A longer one is left out. */
const MAX_USAGE_BYTES = 16_384
/** Bytes of a member name. A longer name does not count. */
const MAX_NAME_BYTES = 32
/** Members below this depth are not followed by name. */
const MAX_NAMED_DEPTH = 3
const MAX_DEPTH = 1_000

/** Paths of the vendors. `[]` is an element of an array at the root, which Gemini streams. */
const PATHS = new Set([
  'usage',
  'usageMetadata',
  'message.usage',
  'response.usage',
  'response.usageMetadata',
  '[].usage',
  '[].usageMetadata',
])

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a] as const
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d] as const

type Frame = { isArray: boolean; path: string | null }

export class UsageScanner {
  readonly #onUsage: (usage: unknown) => void
  #frames: Frame[] = []
  #isInString = false
  #isEscaped = false
  #isBroken = false
  /** The last string, which is a name if a colon follows. */
  #text: number[] = []
  #name: string | null = null
  /** A usage object that is being read, and the depth of its members. */
  #usage: number[] | null = null
  #usageDepth = 0

  constructor(onUsage: (usage: unknown) => void) {
    this.#onUsage = onUsage
  }

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.#isBroken; at++) {
      const byte = bytes[at] ?? 0
      this.#keep(byte)
      if (this.#isInString) this.#scanString(byte)
      else this.#scanOutside(byte)
    }
  }

  /** Begins again, for the next document. */
  reset(): void {
    this.#frames = []
    this.#isInString = false
    this.#isEscaped = false
    this.#isBroken = false
    this.#name = null
    this.#usage = null
  }

  #keep(byte: number): void {
    if (this.#usage && this.#usage.length <= MAX_USAGE_BYTES) this.#usage.push(byte)
  }

  #scanString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === BACKSLASH) this.#isEscaped = true
    else if (byte === QUOTE) {
      this.#isInString = false
      return
    }
    if (this.#text.length <= MAX_NAME_BYTES) this.#text.push(byte)
  }

  #scanOutside(byte: number): void {
    if (byte === QUOTE) {
      this.#isInString = true
      this.#text = []
    } else if (byte === COLON) this.#name = this.#nameRead()
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#open(byte === OPEN_ARRAY, byte)
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#close(byte === CLOSE_ARRAY)
    // Text that is no JSON.
    else if (this.#frames.length === 0 && byte > 0x20) this.#isBroken = true
  }

  /** Decodes escapes in a name, because `"us\u0061ge"` is an equal name. */
  #nameRead(): string | null {
    if (this.#text.length > MAX_NAME_BYTES) return null
    const text = Buffer.from(this.#text).toString('latin1')
    if (!text.includes('\\')) return text
    try {
      return JSON.parse(`"${text}"`) as string
    } catch {
      return null
    }
  }

  #open(isArray: boolean, byte: number): void {
    const path = this.#pathOfNext()
    this.#name = null
    this.#frames.push({ isArray, path })
    if (this.#frames.length > MAX_DEPTH) this.#isBroken = true
    if (isArray || this.#usage || path === null || !PATHS.has(path)) return
    this.#usage = [byte]
    this.#usageDepth = this.#frames.length
  }

  /** Returns null if no usage can be there. */
  #pathOfNext(): string | null {
    const parent = this.#frames.at(-1)
    if (!parent) return ''
    if (parent.path === null || this.#frames.length >= MAX_NAMED_DEPTH) return null
    if (parent.isArray) return parent.path === '' ? '[]' : null
    if (this.#name === null) return null
    return parent.path === '' ? this.#name : `${parent.path}.${this.#name}`
  }

  #close(isArray: boolean): void {
    const frame = this.#frames.pop()
    if (!frame || frame.isArray !== isArray) {
      this.#isBroken = true
      return
    }
    this.#name = null
    if (!this.#usage || this.#frames.length >= this.#usageDepth) return
    const bytes = this.#usage
    this.#usage = null
    if (bytes.length > MAX_USAGE_BYTES) return
    try {
      this.#onUsage(JSON.parse(Buffer.from(bytes).toString()))
    } catch {
      // Not JSON after all.
    }
  }
}
