/** Searches the documentation by the beginnings of words. */

import type { SearchIndex } from '../../docs/contents.ts'

export type Hit = {
  href: string
  title: string
  heading: string
  layer: string
  /** The text around the first word that was found. */
  excerpt: string
}

const MAX_HITS = 12
/** Characters of an excerpt, and how many of them come before the word. */
const EXCERPT = { length: 120, before: 40 }
const IN_TITLE = 100
const IN_HEADING = 40
const WHOLE_WORD = 5

/** Words of a question that say nothing about its subject. */
const STOP_WORDS = new Set(
  'a an and are can do does for from get how i if in is it me my of on or our the this to use we what when where who with you your'.split(
    ' ',
  ),
)
const ENDING = /(?<=\p{L}{4})(?:s|ed|ing)$/u

/** Sections that contain all words of the query, or else most of them, the best first. */
export function searchPages(index: SearchIndex, query: string): Hit[] {
  const typed = query.toLowerCase().match(/[\p{L}\p{N}_.-]+/gu) ?? []
  const distinctive = typed.filter((word) => !STOP_WORDS.has(word))
  const words = distinctive.length === 0 ? typed : distinctive
  if (words.length === 0) return []
  const hits = findWith(index, words, words.length)
  if (hits.length > 0 || words.length === 1) return hits
  return findWith(
    index,
    words.map((word) => word.replace(ENDING, '')),
    Math.ceil(words.length / 2),
  )
}

/** @param least how many of the words a section needs */
function findWith(index: SearchIndex, words: readonly string[], least: number): Hit[] {
  const hits = index.flatMap((page) =>
    page.sections.flatMap(({ heading, anchor, text }) => {
      const scores = words.map((word) => scoreOf(word, anchor, page.title, heading, text))
      if (scores.filter((each) => each > 0).length < least) return []
      const score = scores.reduce((sum, each) => sum + each, 0)
      const href = anchor === '' ? page.href : `${page.href}#${anchor}`
      const { title, layer } = page
      return [{ score, href, title, heading, layer, excerpt: excerptOf(text, words) }]
    }),
  )
  const best = hits.sort((one, other) => other.score - one.score).slice(0, MAX_HITS)
  return best.map(({ score: _, ...hit }) => hit)
}

/** 0 if the word is not found. The title counts for the beginning of its page only. */
function scoreOf(word: string, anchor: string, title: string, heading: string, text: string) {
  const [inTitle, inHeading] = [matchOf(word, title), matchOf(word, heading)]
  const inText = matchOf(word, text)
  if (inTitle > 0 && anchor === '') return IN_TITLE + inTitle
  if (inHeading > 0) return IN_HEADING + inHeading
  return inText > 0 ? inText : Math.min(inTitle, 1)
}

/** 0 if no word of the text begins with this word. */
function matchOf(word: string, text: string): number {
  const lower = text.toLowerCase()
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1)) {
    if (at > 0 && isLetter(lower[at - 1])) continue
    return isLetter(lower[at + word.length]) ? 1 : WHOLE_WORD
  }
  return 0
}

const isLetter = (character = ' ') => /[\p{L}\p{N}]/u.test(character)

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase()
  const found = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0)
  const start = Math.max(0, Math.min(...found, text.length) - EXCERPT.before)
  const from = found.length === 0 || start === 0 ? 0 : text.indexOf(' ', start) + 1
  const part = text.slice(from, from + EXCERPT.length)
  const whole = from + EXCERPT.length < text.length ? part.replace(/\s\S*$/, ' …') : part
  return from > 0 ? `… ${whole}` : whole
}
