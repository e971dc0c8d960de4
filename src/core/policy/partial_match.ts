/** How much of the beginning of `sought` stands at the end: so much waits for what comes next. */
export function beginningAtEndOf(bytes: Buffer, sought: string): number {
  const end = bytes.toString('latin1', Math.max(0, bytes.length - sought.length + 1))
  for (let from = 0; from < end.length; from += 1) {
    if (sought.startsWith(end.slice(from))) return end.length - from
  }
  return 0
}
