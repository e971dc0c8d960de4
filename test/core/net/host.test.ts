// tier: quick
import { beforeEach, describe, expect, test } from 'bun:test'
import { openLog } from '../../../src/core/log.ts'
import { hostCheck, logRefusedHosts } from '../../../src/core/net/host.ts'

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
  ])('%p is not allowed', (header) => {
    expect(passes(allowed, header)).toBe(false)
  })
  test('an absent name is not allowed', () => {
    expect(passes(allowed, null)).toBe(false)
    expect(passes(['*'], null)).toBe(false)
  })
})

test('a leading dot allows a domain and its subdomains, and no look-alike', () => {
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

test('no name is allowed if none is configured', () => {
  expect(passes([], 'localhost')).toBe(false)
})

describe('the log of rejected hosts', () => {
  let time = 0
  let lines: string[] = []
  function refuse(...headers: (string | null)[]): void {
    const refused = logRefusedHosts(
      openLog('info', (line) => lines.push(line)),
      { now: () => time },
    )
    const check = hostCheck(['vault.example.com'], refused)
    for (const header of headers) {
      expect(() => check(header)).toThrow()
      time += 10_000
    }
  }
  const said = () =>
    lines.map((line) => {
      const { level, host, count } = JSON.parse(line)
      return [level, host, count]
    })
  beforeEach(() => {
    lines = []
  })

  test('the log names the host immediately, then once a minute with the number of rejections', () => {
    refuse(...Array.from({ length: 14 }, (_, index) => `Wrong${index}.example.com:443`))
    expect(said()).toEqual([
      ['warning', 'wrong0.example.com', 1],
      ['warning', 'wrong6.example.com', 6],
      ['warning', 'wrong12.example.com', 6],
    ])
  })

  test.each([null, '', 'a\nb.example.com', '\u001b[31mred', 'user@vault.example.com'])(
    '%p does not appear in the log',
    (header) => {
      refuse(header)
      expect(said()).toEqual([['warning', null, 1]])
      expect(lines.join('').length).toBeLessThan(250)
    },
  )

  test('a name longer than any valid one does not appear in the log', () => {
    refuse(`${'a'.repeat(8192)}.example.com`)
    expect(said()).toEqual([['warning', null, 1]])
    expect(lines.join('').length).toBeLessThan(250)
  })

  test('an allowed host leaves no line', () => {
    const refused = logRefusedHosts(
      openLog('info', (line) => lines.push(line)),
      { now: () => time },
    )
    hostCheck(['vault.example.com'], refused)('vault.example.com')
    expect(lines).toEqual([])
  })
})
