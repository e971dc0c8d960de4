/** The length of the prefix of `sought` at the end of the text. That much waits for the next chunk. */
export function beginningAtEndOf(bytes: Buffer, sought: string): number {
  const end = bytes.toString('latin1', Math.max(0, bytes.length - sought.length + 1))
  for (let from = 0; from < end.length; from += 1) {
    if (sought.startsWith(end.slice(from))) return end.length - from
  }
  return 0
}
