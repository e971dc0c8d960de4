/**
 * Finds stretches of bytes of one class without reading every byte: a stretch is searched from its end for a byte that
 * breaks it, so that text without one costs a fraction.
 */

/**
 * Returns the first index from `from` on with `min` bytes of a class, or else the start of the shorter stretch at the
 * end of the bytes.
 */
export function findNextStretch(
  bytes: Uint8Array,
  from: number,
  end: number,
  classes: Uint8Array | Uint16Array,
  mask: number,
  min: number,
): number {
  let at = from
  while (at + min <= end) {
    let back = at + min - 1
    while (back >= at && ((classes[bytes[back] ?? 0] ?? 0) & mask) !== 0) back--
    if (back < at) return at
    at = back + 1
  }
  let last = end
  while (last > at && ((classes[bytes[last - 1] ?? 0] ?? 0) & mask) !== 0) last--
  return last
}

/** Returns the end of the bytes of a class that begin at `from`. */
export function endOfStretch(
  bytes: Uint8Array,
  from: number,
  end: number,
  classes: Uint8Array | Uint16Array,
  mask: number,
): number {
  let at = from
  while (at < end && ((classes[bytes[at] ?? 0] ?? 0) & mask) !== 0) at++
  return at
}
