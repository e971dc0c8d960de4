/** Files of assignments, read statement by statement. */

/** With the offset where the next one begins. */
export type Statement = { end: number } & ({ name: string; value: string } | { reason: string })

type Rules = {
  /** Matches text to skip, at its `lastIndex`. */
  blank: RegExp
  statementAt(text: string, at: number): Statement
}

/** All assignments, and the faults of other lines. */
export function readStatements(text: string, { blank, statementAt }: Rules) {
  const found: { name: string; value: string; line: number }[] = []
  const faults: { line: number; reason: string }[] = []
  const lineAt = lineNumbers(text)
  for (let at = 0; at < text.length; ) {
    const skipped = matchAt(blank, text, at)
    if (skipped) {
      at += skipped[0].length
      continue
    }
    const { end, ...statement } = statementAt(text, at)
    const line = lineAt(at)
    if ('reason' in statement) faults.push({ line, reason: statement.reason })
    else found.push({ name: statement.name, value: statement.value, line })
    at = end
  }
  return { found, faults }
}

/** @param pattern sticky */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

export function findNextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end + 1
}

/** Numbers of lines by offsets, from 1: one pass over the text, however many are asked for. */
export function lineNumbers(text: string): (offset: number) => number {
  const ends: number[] = []
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) ends.push(at)
  return (offset) => {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) < offset) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}
