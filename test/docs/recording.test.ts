// tier: all
/** The picture of the first session shows what the README says, and is a picture only. */
import { expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { blocksOf, linesIn } from './blocks.ts'
import { ROOT, textOf } from './documents.ts'

const MOST_BYTES = 60_000
const path = join(ROOT, 'docs/first-session.svg')
const svg = readFileSync(path, 'utf8')
const readme = textOf('README.md')

/** As they are read on it. */
const shown = [...svg.matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(([, inner = '']) =>
  inner
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&'),
)

test("its commands, and what is said of them, are the README's", () => {
  const [first] = blocksOf('README.md', 'tour').map(linesIn)
  const lines = (first ?? []).filter((line) => !line.startsWith('cd '))
  const commands = lines.map((line) => line.replace(/\s+# .*$/, ''))
  const typed = shown.filter((line) => /^[$>] /.test(line)).join('\n')
  expect(
    typed
      .split(/^\$ /m)
      .slice(1)
      .map((text) => text.trim().replaceAll('\n> ', '\n')),
  ).toEqual(commands)
  const comments = lines.flatMap((line) => /\s+(# .*)$/.exec(line)?.[1] ?? [])
  expect(shown.filter((line) => line.startsWith('# '))).toEqual(comments)
})

test('the time that the README says is the one that was measured, and under three minutes', () => {
  const time = /(\d+) min (\d+) s, typed at \d+ keys a second/
  const [said, minutes, seconds] = time.exec(readme) ?? []
  expect(/<title>(.*)<\/title>/.exec(svg)?.[1]).toEndWith(`: ${said}`)
  expect(Number(minutes) * 60 + Number(seconds)).toBeLessThan(180)
})

test('it ends with the answer that has a name in the place of the value', () => {
  expect(shown.join('')).toContain('"authorization":"Bearer SVC_SECRET_STRIPE_KEY"')
  expect(svg).not.toMatch(/svc_[a-z]{3}_|sk_live|cr-tour/)
})

test('it is small, needs nothing else, and keeps still for those who want that', () => {
  expect(statSync(path).size).toBeLessThan(MOST_BYTES)
  expect(svg).not.toMatch(/<(script|image|foreignObject|use|a)\b|href|@import|url\((?!#)/)
  const [still = ''] = svg.split('@media (prefers-reduced-motion:no-preference)')
  expect(still).not.toContain('animation')
  expect(svg).toContain('@media (prefers-color-scheme:dark)')
})
