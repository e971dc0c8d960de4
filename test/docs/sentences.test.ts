// tier: quick
/** Sentences of the documents are short, without headings, tables and code. The documents have a budget of words. */
import { expect, test } from 'bun:test'
import { type Document, documents } from './documents.ts'

const MAX_MEAN = 18
const MAX_WORDS = 40
const README_WORDS = 1_200
/** Without the generated API reference. */
const DOCS_WORDS = 60_000

const END = '\0'
const asBlock = (text: string) => `${END}${text}${END}`
const nothing = () => END
/** Code counts as a word. */
const asWord = () => 'x'

/** Texts of paragraphs and list items. */
function paragraphsOf(markdown: string): string[] {
  const skipped = { heading: nothing, table: nothing, code: nothing, html: nothing, image: nothing }
  const kept = { paragraph: asBlock, listItem: asBlock, codespan: asWord }
  return Bun.markdown
    .render(markdown, { ...skipped, ...kept })
    .split(END)
    .map((block) => block.replace(/\s+/g, ' ').trim())
    .filter((block) => block !== '')
}

const ENDS = /(?<=[.?!]["”)]?) (?=["“(]?[\p{Lu}\p{N}x])/u

/** Middle dots separate items of a list. */
function sentencesOf(markdown: string): string[] {
  return paragraphsOf(markdown).flatMap((block) =>
    block.split(ENDS).flatMap((part) => part.split(' · ')),
  )
}

function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}

/** The sentences of a page that are too long, and its mean. List items without punctuation do not lower the mean. */
function faultsOf(markdown: string): string[] {
  const sentences = sentencesOf(markdown)
  const counts = sentences.filter((each) => /[.?!:]["”)]?$/.test(each)).map(countWords)
  const mean = counts.reduce((sum, count) => sum + count, 0) / Math.max(1, counts.length)
  const long = sentences.filter((sentence) => countWords(sentence) > MAX_WORDS)
  return [
    ...(mean > MAX_MEAN ? [`the mean is ${mean.toFixed(1)} words`] : []),
    ...long.map((sentence) => `${countWords(sentence)} words: ${sentence}`),
  ]
}

const faults = new Map(documents.map(({ path, text }) => [path, faultsOf(text)]))

test(`sentences have at most ${MAX_WORDS} words, and ${MAX_MEAN} in the mean of a page`, () => {
  const long = [...faults].filter(([, found]) => found.length > 0)
  expect(Object.fromEntries(long)).toEqual({})
})

test(`the README has at most ${README_WORDS} words, and docs/ has ${DOCS_WORDS}`, () => {
  const wordsOf = (pages: readonly Document[]) =>
    countWords(pages.map(({ text }) => text).join('\n'))
  const docs = documents.filter(({ path }) => /^docs\/(?!reference\/api\.md)/.test(path))
  expect(wordsOf(documents.filter(({ path }) => path === 'README.md'))).toBeWithin(
    500,
    README_WORDS + 1,
  )
  expect(wordsOf(docs)).toBeWithin(40_000, DOCS_WORDS + 1)
})

test('a sentence ends with its sign or its block, and code is one word', () => {
  const text =
    '# No sentence\n\nOne two\nthree. `a b c` four (five). Six e.g. seven!\n\n- eight\n- nine: ten\n\n| a | b |\n|---|---|\n| c d | e |\n\n```\nx y z.\n```\n'
  expect(sentencesOf(text)).toEqual([
    ...['One two three.', 'x four (five).', 'Six e.g. seven!', 'eight', 'nine: ten'],
  ])
})

test('the check finds a long sentence and a high mean', () => {
  const words = (count: number) => `${'word '.repeat(count).trim()}.`
  expect(faultsOf(words(40))).toEqual(['the mean is 40.0 words'])
  expect(faultsOf([words(41), words(2), words(2)].join('\n\n'))).toEqual([`41 words: ${words(41)}`])
  expect(faultsOf([words(18), words(18)].join(' W'))).toEqual([])
})
