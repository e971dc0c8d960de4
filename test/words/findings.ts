/** Finds phrases in the text of a file, also where one goes over two lines of a comment or paragraph. */
import type { Phrase } from './phrases.ts'
import type { Exception } from './scope.ts'

export type Finding = { path: string; line: number; text: string; found: string; instead: string }

/** Between two words: spaces, or one line break with the sign of a comment or quotation. */
const GAP = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:(?:\*|\/\/|--|#|>|- )[ \t]*)?)`
const APOSTROPHE = `['’]`
const WORD = String.raw`[\p{L}\p{N}'’_-]+`

/** @example `whose … is` matches `whose name is` and `whose long name is` */
export function patternOf({ phrase, unlessAfter }: Phrase): RegExp {
  const words = phrase
    .replaceAll('’', APOSTROPHE)
    .replaceAll(/\((?!\?)/g, '(?:')
    .split(' ')
    .map((word) => (word === '…' ? `${WORD}(?:${GAP}${WORD}){0,2}` : word))
  const before = unlessAfter === undefined ? '' : String.raw`(?<!\b${unlessAfter}\s+)`
  return new RegExp(`${before}(?<![\\p{L}\\p{N}_])${words.join(GAP)}(?![\\p{L}\\p{N}_])`, 'giu')
}

export function findIn(path: string, text: string, phrases: readonly Phrase[]): Finding[] {
  const lines = text.split('\n')
  return phrases
    .flatMap((phrase) =>
      [...text.matchAll(patternOf(phrase))].map(({ 0: found, index }) => {
        const line = text.slice(0, index).split('\n').length
        const { instead } = phrase
        return { path, line, text: lines[line - 1] ?? '', found, instead }
      }),
    )
    .sort((one, other) => one.line - other.line)
}

const STARTS = String.raw`(?:Who|Whose|Whom|Whoever|What|Where|Which|Those|Of|The same(?=,| (?:as|is|are|for|in|with|behind)\b))\b`
/** Comments, test titles and headings that begin without a subject. */
const HEADLESS = [
  new RegExp(String.raw`^[ \t]*(?:\/\*\*|\{?\/\*|\*|\/\/|--)[ \t]+(${STARTS}.*)$`, 'gm'),
  new RegExp(String.raw`\b(?:test|describe)(?:\.\w+)*\(\s*['"\x60](${STARTS}.*)$`, 'gim'),
  new RegExp(`^#+ (${STARTS}.*)$`, 'gm'),
]

/** A question may begin with a question word. */
export function findHeadless(path: string, text: string): Finding[] {
  return HEADLESS.flatMap((pattern) => [...text.matchAll(pattern)])
    .filter(([, title = '']) => !title.includes('?'))
    .map(({ 0: all, 1: found = '', index }) => {
      const line = text.slice(0, index + all.indexOf(found)).split('\n').length
      return { path, line, text: all, found, instead: 'a sentence that names its subject' }
    })
}

export function isExcepted({ path, text }: Finding, exceptions: readonly Exception[]): boolean {
  return exceptions.some((exception) => exception.path === path && text.includes(exception.line))
}

/** As a compiler reports: the place, the words, and the words to use. */
export function messageOf({ path, line, found, instead }: Finding): string {
  return `${path}:${line}: “${found.replaceAll(/\s+/g, ' ')}”. Use: ${instead}`
}
