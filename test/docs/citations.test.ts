// tier: quick
/**
 * Each citation in a comment exists. Our own protocol is cited as `protocol 3.4`, a step of it as
 * `protocol 6, step 9`; our other documents by their heading, and standards as `RFC 9110, section 5.1`.
 */
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { headingsOf, ROOT, textOf } from './documents.ts'

const protocol = textOf('docs/reference/protocol.md')
const sections = new Set(headingsOf(protocol).map((heading) => heading.split(/\.? /)[0] ?? ''))
const steps = new Set(
  [...(protocol.split('## 6. ')[1] ?? '').matchAll(/^(\d+)\. /gm)].map(([, step = '']) => step),
)

/** `before` is the previous line, because a citation may go over two lines. */
type Line = { at: string; text: string; before: string }

const lines: Line[] = [...new Bun.Glob('{src,test}/**/*.{ts,tsx,sql,sh}').scanSync({ cwd: ROOT })]
  .filter((path) => !path.endsWith('docs/citations.test.ts'))
  .flatMap((path) =>
    readFileSync(join(ROOT, path), 'utf8')
      .split('\n')
      .map((text, index, all) => ({
        at: `${path}:${index + 1}`,
        text: text.replace(/^\s*(?:\*|\/\/) /, ''),
        before: index === 0 ? '' : `${all[index - 1]} `,
      })),
  )

const SECTION = /\bprotocol ((?:\d+(?:\.\d+)?)(?:(?:, | and )\d+(?:\.\d+)?)*)/gi
const STEP = /\bprotocol 6, steps? (\d+)(?: (?:to|and) (\d+))?/gi
const HEADING = /\b(docs\/[\w/-]+\.md), "([^"]+)"/g
const ANY_SECTION = /\bsections? (?=\d)/gi
const OF_A_STANDARD = /(?:RFC \d+|HTML standard|SP 800-\d+\w?),? $/

function sectionsIn(text: string): string[] {
  return [...text.matchAll(SECTION)].flatMap(([, list = '']) => list.split(/, | and /))
}

function isUnknownSection({ text }: Line): boolean {
  return sectionsIn(text).some((section) => !sections.has(section))
}

/** A section number without its document. */
function isHomeless({ text, before }: Line): boolean {
  return [...text.matchAll(ANY_SECTION)].some(
    ({ index }) => !OF_A_STANDARD.test(before + text.slice(0, index)),
  )
}

describe('citations in comments', () => {
  test('the protocol has its sections under the numbers that stay', () => {
    const numbers = [1, 2, 3, 3.1, 3.2, 3.3, 3.4, 4, 5, 6, 6.1, 6.2, 7, 8, 9, 10, 11].map(String)
    expect(numbers.filter((number) => !sections.has(number))).toEqual([])
    expect([...steps]).toEqual(Array.from({ length: 12 }, (_, index) => String(index + 1)))
  })

  test('every section of the protocol that is cited exists', () => {
    expect(lines.flatMap(({ text }) => sectionsIn(text)).length).toBeGreaterThan(50)
    expect(lines.filter(isUnknownSection)).toEqual([])
  })

  test('every step of a call that is cited exists', () => {
    const unknown = lines.filter(({ text }) =>
      [...text.matchAll(STEP)].some(([, ...cited]) =>
        cited.some((step) => step !== undefined && !steps.has(step)),
      ),
    )
    expect(unknown).toEqual([])
  })

  test('every heading of another document that is cited exists', () => {
    const unknown = lines.filter(({ text }) =>
      [...text.matchAll(HEADING)].some(
        ([, path = '', heading = '']) => !headingsOf(textOf(path)).includes(heading),
      ),
    )
    expect(unknown).toEqual([])
  })

  test('a section says of which document it is', () => {
    expect(lines.filter(isHomeless)).toEqual([])
  })

  test('nothing is cited that is not in this repository', () => {
    const foreign = /\b(?:PROTOCOL|DESIGN|ADVERSARY)(?:\.md)? (?:section )?\d|\bissue #?\d/
    expect(lines.filter(({ text }) => foreign.test(text))).toEqual([])
  })

  test('the rules tell what is right from what is not', () => {
    const line = (text: string, before = ''): Line => ({ at: '', text, before })
    expect(sectionsIn('(protocol 3.1 and 5.1), Protocol 6, step 9')).toEqual(['3.1', '5.1', '6'])
    expect(isUnknownSection(line('(protocol 3.9)'))).toBe(true)
    expect(isHomeless(line('(section 3.4)'))).toBe(true)
    expect(isHomeless(line('RFC 9110, section 3.4'))).toBe(false)
    expect(isHomeless(line('section 3.4)', ' * (RFC 9110, '))).toBe(false)
  })
})
