// tier: quick
/**
 * The rewrite of the protocol page lost no rule. Each paragraph, list item, table row and code block of the former
 * page has an entry: the section and the exact words that state its rule now, or the reason why it was no rule.
 */
import { expect, test } from 'bun:test'
import { textOf } from './documents.ts'
import firstHalf from './protocol_rules/sections_1_to_5.json'
import secondHalf from './protocol_rules/sections_6_to_14.json'

/** `was` is the former section and the first words of the block. */
type Entry = { was: string; now?: string; words?: string; gone?: string }

/** `counts` has the number of blocks in each section of the former page. */
type Half = { counts: Record<string, number>; entries: Entry[] }

const SHORTEST_QUOTATION = 8
const SHORTEST_REASON = 20

const entries: Entry[] = [...firstHalf.entries, ...secondHalf.entries]
const counts: Half['counts'] = { ...firstHalf.counts, ...secondHalf.counts }

/** The text of each section up to the next heading, by its number. The text before the first section is the preamble. */
function readSections(page: string): Map<string, string> {
  const sections = new Map<string, string>()
  let number = 'preamble'
  for (const line of page.split('\n')) {
    const heading = /^#{2,6} (\d+(?:\.\d+)?)\.? /.exec(line)
    number = heading?.[1] ?? number
    sections.set(number, `${sections.get(number) ?? ''}\n${line}`)
  }
  return new Map([...sections].map(([key, text]) => [key, normalize(text)]))
}

/** A quotation may go over several lines of a list or of a quoted paragraph. */
function normalize(text: string): string {
  return text
    .replace(/^[ >]+/gm, '')
    .replace(/\s+/g, ' ')
    .trim()
}

const sections = readSections(textOf('docs/reference/protocol.md'))

function sectionOf({ was }: Entry): string {
  return was.split(': ')[0] ?? ''
}

function isPlace({ now = '', words = '' }: Entry): boolean {
  const quotation = normalize(words)
  return quotation.length >= SHORTEST_QUOTATION && (sections.get(now)?.includes(quotation) ?? false)
}

function isWellFormed({ now, words, gone }: Entry): boolean {
  if (gone === undefined) return now !== undefined && words !== undefined
  return now === undefined && words === undefined && gone.length >= SHORTEST_REASON
}

test('every section of the former page still exists', () => {
  expect(Object.keys(counts)).toHaveLength(52)
  expect(Object.keys(counts).filter((number) => !sections.has(number))).toEqual([])
})

test('every section has as many entries as the former page had blocks', () => {
  const found = Object.groupBy(entries, sectionOf)
  const numbers = Object.entries(found).map(([number, some = []]) => [number, some.length])
  expect(Object.fromEntries(numbers)).toEqual(counts)
  expect(entries).toHaveLength(793)
})

test('no two entries are for the same block', () => {
  const blocks = entries.map(({ was }) => was)
  expect(blocks.filter((was, at) => blocks.indexOf(was) < at)).toEqual([])
})

test('every entry has either a place on the new page or the reason why it has no place', () => {
  expect(entries.filter((entry) => !isWellFormed(entry))).toEqual([])
})

test('every rule is on the page, in the section and words that its entry has', () => {
  const placed = entries.filter(({ gone }) => gone === undefined)
  expect(placed.length).toBeGreaterThan(entries.length / 2)
  expect(placed.filter((entry) => !isPlace(entry))).toEqual([])
})

test('the check finds a wrong place, words of another section and an entry without a place', () => {
  const [right] = entries.filter((entry) => entry.gone === undefined)
  expect(isPlace({ ...right, was: 'x' })).toBe(true)
  expect(isPlace({ ...right, was: 'x', now: '99' })).toBe(false)
  expect(isPlace({ ...right, was: 'x', words: 'words that are not on the page' })).toBe(false)
  expect(isPlace({ ...right, was: 'x', words: '' })).toBe(false)
  const reason = 'a reason of enough length'
  expect(isWellFormed({ was: 'x', gone: reason })).toBe(true)
  expect(isWellFormed({ was: 'x', gone: 'short' })).toBe(false)
  expect(isWellFormed({ was: 'x', now: '1', words: 'y', gone: reason })).toBe(false)
  expect(isWellFormed({ was: 'x' })).toBe(false)
})
