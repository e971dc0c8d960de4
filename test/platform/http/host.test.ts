import { describe, expect, test } from 'bun:test'
import { hostCheck } from '../../../src/platform/http/host.ts'

function passes(allowed: readonly string[], header: string | null): boolean {
  try {
    hostCheck(allowed)(header)
    return true
  } catch {
    return false
  }
}

describe('a name', () => {
  const allowed = ['vault.example.com', '[::1]', '127.0.0.1']
  test.each([
    'vault.example.com',
    'VAULT.Example.COM',
    'vault.example.com:443',
    'vault.example.com.',
    'vault.example.com.:443',
    '[::1]',
    '[::1]:8000',
    '127.0.0.1:8000',
  ])('%s is allowed', (header) => {
    expect(passes(allowed, header)).toBe(true)
  })
  test.each([
    '',
    'example.com',
    'a.vault.example.com',
    'vault.example.com.evil.example',
    'evilvault.example.com',
    'vault.example.com:',
    'vault.example.com:443:443',
    'vault.example.com:123456',
    'vault.example.com:-1',
    'vault.example.com:4a',
    'vault.example.com/',
    'vault.example.com?',
    'vault.example.com#',
    'vault.example.com..',
    'user@vault.example.com',
    'vault.example.com,evil.example',
    'vault.example.com evil.example',
    ' vault.example.com',
    'vault.example.com\n',
    'vaul\u0131.example.com',
    '::1',
    '[::1',
    '[0:0:0:0:0:0:0:1]',
    '127.1',
    '2130706433',
  ])('%p is not', (header) => {
    expect(passes(allowed, header)).toBe(false)
  })
  test('that is absent is not', () => {
    expect(passes(allowed, null)).toBe(false)
    expect(passes(['*'], null)).toBe(false)
  })
})

test('a dot in front allows a domain and what is below it, and no look-alike', () => {
  const allowed = ['.example.com']
  for (const header of ['example.com', 'a.example.com', 'a.b.example.com:80'])
    expect(passes(allowed, header)).toBe(true)
  for (const header of ['badexample.com', 'example.com.evil.example', '.example.com.', 'com'])
    expect(passes(allowed, header)).toBe(header === '.example.com.')
})

test('* allows every well-formed name and no other', () => {
  expect(passes(['*'], 'anything.example')).toBe(true)
  expect(passes(['*'], 'any thing')).toBe(false)
  expect(passes(['*'], 'anything.example/path')).toBe(false)
})

test('nothing is allowed where nothing is configured', () => {
  expect(passes([], 'localhost')).toBe(false)
})
