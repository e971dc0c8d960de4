/** What may follow a find and then belongs to it. */
import { unitsAt } from './escapes.ts'
import type { Needle } from './needles.ts'

/** Takes in as much of the needle's tail as follows, escaped or not. */
export function endOfTail(needle: Needle, text: Uint8Array, from: number): number {
  let at = from
  for (const wanted of needle.tail) {
    const unit = unitsAt(text, at).find((reading) => needle.fold[reading.bytes[0] ?? 0] === wanted)
    if (unit === undefined) break
    at += unit.length
  }
  return at
}
