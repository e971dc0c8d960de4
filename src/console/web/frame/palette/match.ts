/** Finds entries by parts of words: `git tok` finds GITHUB_TOKEN. */

export type Searchable = { label: string; hint?: string | undefined }

export function partsOf(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean)
}

/** Returns at most `most` entries, the best first. `count` is the number of matches. */
export function findMatches<T extends Searchable>(
  entries: readonly T[],
  parts: readonly string[],
  most: number,
): { found: T[]; count: number } {
  const ranked = entries.flatMap((entry) => {
    const rank = rankOf(entry, parts)
    return rank === null ? [] : [{ entry, rank }]
  })
  ranked.sort(
    (a, b) =>
      a.rank - b.rank ||
      a.entry.label.length - b.entry.label.length ||
      a.entry.label.localeCompare(b.entry.label),
  )
  return { found: ranked.slice(0, most).map(({ entry }) => entry), count: ranked.length }
}

const WITHIN_WORD = 2
const WITHIN_HINT = 4

/** The rank, where less is better. Null unless each part occurs. */
function rankOf({ label, hint }: Searchable, parts: readonly string[]): number | null {
  const name = label.toLowerCase()
  let sum = 0
  for (const part of parts) {
    const at = name.indexOf(part)
    if (at < 0) {
      if (!hint?.toLowerCase().includes(part)) return null
      sum += WITHIN_HINT
    } else if (at > 0) sum += startsWord(name, part) ? 1 : WITHIN_WORD
  }
  return sum
}

function startsWord(name: string, part: string): boolean {
  for (let at = name.indexOf(part); at >= 0; at = name.indexOf(part, at + 1)) {
    if (at === 0 || !/[\p{Letter}\p{Number}]/u.test(name[at - 1] ?? '')) return true
  }
  return false
}
