// tier: quick
import { expect, test } from 'bun:test'
import { tokenPattern } from '../../src/core/token_pattern.ts'

/** The characters of RFC 9110, section 5.6.2, spelled out. */
const TCHAR = `!#$%&'*+-.^_\`|~0123456789${'abcdefghijklmnopqrstuvwxyz'}ABCDEFGHIJKLMNOPQRSTUVWXYZ`

test("exactly the RFC's characters are accepted, out of all characters up to U+00FF", () => {
  const all = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))
  const taken = all.filter((char) => tokenPattern().test(char))
  expect(taken.sort()).toEqual([...TCHAR].sort())
})

test('a token has at least one character, and at most the requested number', () => {
  expect('').not.toMatch(tokenPattern())
  expect('x'.repeat(10_000)).toMatch(tokenPattern())
  expect('x'.repeat(32)).toMatch(tokenPattern(32))
  expect('x'.repeat(33)).not.toMatch(tokenPattern(32))
})

test('a token has nothing else before or after it', () => {
  for (const text of ['a b', ' a', 'a ', 'a\n', 'a:', 'a\r\nb'])
    expect(text).not.toMatch(tokenPattern())
})
