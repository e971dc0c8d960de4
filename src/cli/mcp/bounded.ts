/**
 * Limits the result of a tool to a size for models: the largest member is cut first, and the member `cut` lists each
 * cut. The result stays valid JSON.
 */
import { printableJson } from '../../core/printable.ts'

type Data = Record<string, unknown>

/** Strings are cut at multiples of this, so that cut base64 still decodes. */
const BASE64_QUAD = 4

/** `data` as JSON that takes at most `limit` bytes as a string of another JSON document, as on the wire. */
export function boundJson(data: Data, limit: number): string {
  let shown = startsOf(data, limit)
  for (;;) {
    const text = printableJson(withCuts(data, shown))
    const excess = wireBytes(text) - limit
    if (excess <= 0) return text
    const [name, size] = largestOf(shown)
    if (name === null) return text
    shown = { ...shown, [name]: shortenValue(shown[name], size - excess) }
  }
}

/** `text` in at most `limit` bytes of JSON, and how much is missing. */
export function boundText(text: string, limit: number): string {
  const shown = stringWithin(text.slice(0, limit), limit)
  return shown.length === text.length ? text : `${shown}… (${cutNote(text, shown)})`
}

/** Cheap first cuts: a body may have 64 MiB, and is not written out in full to learn that it is too long. */
function startsOf(data: Data, limit: number): Data {
  const cut = (value: unknown) => (typeof value === 'string' ? startOf(value, limit) : value)
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, cut(value)]))
}

function withCuts(data: Data, shown: Data): Data {
  const cut = Object.entries(data)
    .filter(([name, whole]) => lengthOf(whole) > lengthOf(shown[name]))
    .map(([name, whole]) => [name, cutNote(whole, shown[name])])
  return cut.length === 0 ? shown : { cut: Object.fromEntries(cut), ...shown }
}

function cutNote(whole: unknown, shown: unknown): string {
  const note = `cut, ${bytesOf(whole) - bytesOf(shown)} more bytes`
  if (typeof whole === 'string') return note
  return `${note}: ${lengthOf(shown)} of ${lengthOf(whole)} are shown`
}

/** Characters, elements or members; 0 for values that cannot be cut. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0
}

function largestOf(shown: Data): [name: string | null, size: number] {
  let largest: [string | null, number] = [null, 0]
  for (const [name, value] of Object.entries(shown)) {
    const size = lengthOf(value) === 0 ? 0 : wireBytes(printableJson(value))
    if (size > largest[1]) largest = [name, size]
  }
  return largest
}

function shortenValue(value: unknown, room: number): unknown {
  if (typeof value === 'string') return stringWithin(value, room)
  if (Array.isArray(value)) return elementsWithin(value, room)
  return Object.fromEntries(elementsWithin(Object.entries(value as Data), room))
}

function elementsWithin<T>(elements: readonly T[], room: number): T[] {
  let taken = 0
  return elements.slice(0, -1).filter((element) => {
    taken += wireBytes(printableJson(element)) + 1
    return taken <= room
  })
}

/** The longest start that fits. */
function stringWithin(text: string, room: number): string {
  const fits = (length: number) => wireBytes(printableJson(startOf(text, length))) <= room
  if (fits(text.length)) return text
  let [known, tooLong] = [0, text.length]
  while (tooLong - known > BASE64_QUAD) {
    const middle = (known + tooLong) >> 1
    if (fits(middle)) known = middle
    else tooLong = middle
  }
  return startOf(text, known)
}

/** Without half of a character at its end. */
function startOf(text: string, length: number): string {
  if (text.length <= length) return text
  const start = text.slice(0, length - (length % BASE64_QUAD))
  return start.isWellFormed() ? start : start.slice(0, -BASE64_QUAD)
}

/** UTF-8 of a string, or of the JSON of anything else. */
function bytesOf(value: unknown): number {
  return Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value))
}

function wireBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text))
}
