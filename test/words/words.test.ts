// tier: quick
/** Plain English in code, tests and documents: phrases of the former dialect fail, with a replacement in the message. */
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Finding, findHeadless, findIn, isExcepted, messageOf } from './findings.ts'
import { phrases } from './phrases.ts'
import { exceptions, excluded, paths, subjectPaths } from './scope.ts'

const root = join(import.meta.dir, '../..')

function listFiles(globs: readonly string[]): string[] {
  return globs
    .flatMap((glob) => [...new Bun.Glob(glob).scanSync({ cwd: root })])
    .filter((path) => !excluded.some(({ glob }) => new Bun.Glob(glob).match(path)))
    .sort()
}

const textOf = (path: string) => readFileSync(join(root, path), 'utf8')

/** File names are checked, too. */
function findInFile(path: string): Finding[] {
  const words = path.replaceAll(/[/._-]/g, ' ')
  const inName = findIn(path, words, phrases).map((found) => ({ ...found, line: 0 }))
  return [...inName, ...findIn(path, textOf(path), phrases)]
}

const files = listFiles(paths)
const findings = [
  ...files.flatMap(findInFile),
  ...listFiles(subjectPaths).flatMap((path) => findHeadless(path, textOf(path))),
]
const left = findings.filter((finding) => !isExcepted(finding, exceptions))

/** The list of the style guide, each in a sentence. */
const samples = [
  'Creates the list anew.',
  'Whoever reads this',
  'a person whom it names',
  'the caller is told so',
  'all callers are told',
  'a folder of ours',
  'a worker of its own',
  'the keys of before',
  'have a look at it',
  "nobody's token",
  'somebody’s token',
  'a token whose owner is unknown',
  'It is gone: there is none.',
  'What is too deep is none either.',
  'it is said on the page',
  'works as it says',
  'to take away a key',
  'removed for good',
  'the name stands here',
  'lets go of a caller',
  'a client gives up',
  'while the server is away',
]

describe('the words of code, tests and documents', () => {
  test('no checked file has a phrase of the former dialect, or a comment without a subject', () => {
    expect(files.length).toBeGreaterThan(300)
    expect(left.map(messageOf)).toEqual([])
  })

  test('each exception is needed', () => {
    const unneeded = exceptions.filter(
      (exception) => !findings.some((finding) => isExcepted(finding, [exception])),
    )
    expect(unneeded).toEqual([])
  })

  test('the check finds each phrase of the style guide', () => {
    expect(samples.filter((line) => findIn('', line, phrases).length === 0)).toEqual([])
    const unused = phrases.filter((phrase) =>
      samples.every((line) => findIn('', line, [phrase]).length === 0),
    )
    expect(unused).toEqual([])
  })

  test('the check finds phrases in comments, strings, titles and prose, in any case', () => {
    for (const text of [
      '// Made ANEW.',
      '/** Anew, then. */',
      "test('a key is made anew', () => {})",
      '<p>anew</p>',
      '- **anew**, _anew_',
    ]) {
      expect(findIn('', text, phrases).map(({ found }) => found.toLowerCase())).toContain('anew')
    }
  })

  test('the check finds a phrase that goes over two lines, at its first line', () => {
    const texts = [' * has a room of\n * its own', '// a room of its\n// own', 'a room of\nits own']
    expect(texts.map((text) => findIn('', text, phrases).map(({ line }) => line))).toEqual([
      [1],
      [1],
      [1],
    ])
    expect(findIn('', 'a room of\n\nits own', phrases)).toEqual([])
  })

  test('the check reports the place, the words and their replacement', () => {
    const [finding] = findIn('docs/a.md', 'One line.\nIt is gone for good.', phrases)
    expect(finding && messageOf(finding)).toBe('docs/a.md:2: “for good”. Use: permanently')
  })

  test('the check finds comments, titles and headings without a subject', () => {
    for (const text of [
      '/** What is shown. */',
      ' * Who may call this.',
      '  // Those that are missing.',
      '{/* Where it ends. */}',
      "test('what is nested too deeply is rejected', () => {})",
      'describe("of a token", () => {})',
      '## What it needs',
      '/** The same, read again. */',
    ]) {
      expect(findHeadless('', text)).toHaveLength(1)
    }
    for (const text of ['// Why? What else?', '/** The same key opens both. */', '## Is it right?'])
      expect(findHeadless('', text)).toEqual([])
  })

  test('the check accepts parts of words and plain English', () => {
    for (const text of ['renewal', 'giveaway', 'whomever_else', 'It fails right away.'])
      expect(findIn('', text, phrases)).toEqual([])
  })

  test('an exception covers its own line only', () => {
    const found = findIn('a.md', 'He said “anew”.\nMade anew.', phrases)
    const exception = { path: 'a.md', line: '“anew”', reason: 'a quotation' }
    expect(found.map((finding) => isExcepted(finding, [exception]))).toEqual([true, false])
  })
})
