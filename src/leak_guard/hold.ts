/**
 * Decides how much of a stream is sent at the end of a chunk. Syntax and fixed lengths decide it, never the guarded
 * values: if only beginnings of values were held back, an attacker who makes an upstream repeat texts could learn them
 * from the delay. So all text is held back until the following text has arrived (protocol 6.1).
 */

/** Minimum bytes that wait: decoders need fewer to continue, and most values are shorter. */
export const HELD = 256
/** Maximum bytes that wait, if they may be one encoded text. */
export const HELD_RUN = 4096

/**
 * Separators after which nothing is held back: blank lines between events, line ends, or line ends after a JSON object
 * or array.
 */
export type Frames = keyof typeof FRAME_ENDS

const FRAME_ENDS = {
  events: ['\n\n', '\r\r', '\n\r\n'],
  lines: ['\n'],
  json: ['}\n', ']\n', '}\r\n', ']\r\n'],
} as const
/** One byte less than the longest of them. */
const LOOK_BACK = 2

/** White space, line ends, and the bytes after which these may be within an encoded text. */
const SPACE = 1
const LINE_END = 2
const MAY_SPACE = 4
const MAY_BREAK = 8
const CLASS_OF = new Uint8Array(256)
function mark(characters: string, bits: number): void {
  for (const character of characters) {
    const code = character.charCodeAt(0)
    CLASS_OF[code] = (CLASS_OF[code] ?? 0) | bits
  }
}
mark(' \t\v\f\r\n', SPACE | MAY_SPACE | MAY_BREAK)
mark('\r\n', LINE_END)
mark('0123456789abcdefABCDEF,[', MAY_SPACE)
mark('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-,[', MAY_BREAK)

export class Hold {
  readonly #ends: readonly string[]
  /** Positions in the answer: of its end so far, and after the last frame. */
  #end = 0
  #frame = 0
  /** Start of the answer's last text without a border, which may be far back. */
  #run = 0
  /** The last bytes. */
  #last = Buffer.alloc(0)

  constructor(frames: Frames | undefined) {
    this.#ends = frames ? FRAME_ENDS[frames] : []
  }

  /** Reads the answer's next chunk. */
  read(chunk: Uint8Array): void {
    const { buffer, byteOffset, length } = chunk
    const start = this.#end
    this.#end += length
    const joint = Buffer.concat([this.#last, chunk.subarray(0, LOOK_BACK)])
    this.#findFrame(joint, start - this.#last.length)
    this.#findFrame(Buffer.from(buffer, byteOffset, length), start)
    const border = findLastBorder(chunk, this.#last.at(-1) ?? 0)
    if (border >= 0) this.#run = start + border + 1
    this.#last = Buffer.concat([this.#last, chunk.subarray(-LOOK_BACK)]).subarray(-LOOK_BACK)
  }

  /** Text before this position is sent. */
  get position(): number {
    const waiting = Math.max(this.#end - HELD_RUN, Math.min(this.#end - HELD, this.#run))
    return Math.max(this.#frame, waiting)
  }

  #findFrame(text: Buffer, start: number): void {
    for (const end of this.#ends) {
      const at = text.lastIndexOf(end)
      if (at >= 0) this.#frame = Math.max(this.#frame, start + at + end.length)
    }
  }
}

/** Returns the position of the last white space that cannot be within an encoded text; -1 if none is near. */
function findLastBorder(bytes: Uint8Array, byteBefore: number): number {
  const first = Math.max(0, bytes.length - HELD_RUN)
  for (let at = bytes.length - 1; at >= first; at--) {
    if (isBorder(bytes[at] ?? 0, bytes[at - 1] ?? byteBefore)) return at
  }
  return -1
}

function isBorder(byte: number, before: number): boolean {
  const kind = CLASS_OF[byte] ?? 0
  const needed = (kind & LINE_END) === 0 ? MAY_SPACE : MAY_BREAK
  return (kind & SPACE) !== 0 && ((CLASS_OF[before] ?? 0) & needed) === 0
}
