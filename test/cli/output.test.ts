// tier: quick
/** The output of a command in each form: for a person at a terminal, for a pipe, for a script. */
import { describe, expect, test } from 'bun:test'
import { openOutput } from '../../src/cli/terminal/output.ts'
import { hasColour } from '../../src/cli/terminal/streams.ts'
import type { Column, Row } from '../../src/cli/terminal/table.ts'

const NOW = new Date('2026-03-01T12:00:00Z')

type Form = { json?: boolean; quiet?: boolean; terminal?: boolean; width?: number }

function opened({ json = false, quiet = false, terminal = true, width = 80 }: Form = {}) {
  const printed = { out: '', err: '' }
  const output = openOutput({
    json,
    quiet,
    terminal,
    width,
    colour: false,
    watched: false,
    now: () => NOW,
    out: (text) => {
      printed.out += String(text)
    },
    err: (text) => {
      printed.err += text
    },
  })
  return { output, printed }
}

function table(rows: readonly Row[], columns: readonly Column[], form: Form = {}): string[] {
  const { output, printed } = opened(form)
  output.table(rows, columns)
  return printed.out.trimEnd().split('\n')
}

describe('a table', () => {
  test('a table fits the terminal, and truncates only columns that are too wide', () => {
    const rows = [{ name: 'short', text: 'x'.repeat(100) }]
    const lines = table(rows, ['name', 'text'], { width: 40 })
    expect(lines.map((line) => Bun.stringWidth(line))).toEqual([11, 40])
    expect(lines[1]).toBe(`short  ${'x'.repeat(32)}…`)
  })

  test('a table is not truncated without a terminal', () => {
    const rows = [{ name: 'short', text: 'x'.repeat(100) }]
    const form = { width: Number.POSITIVE_INFINITY, terminal: false }
    expect(table(rows, ['name', 'text'], form)[1]).toBe(`short  ${'x'.repeat(100)}`)
  })

  test('a table counts screen columns: CJK two, combining marks none', () => {
    const rows = [
      { name: '漢字漢字', next: 'a' },
      { name: 'e\u0301te\u0301', next: 'b' },
      { name: '👩‍👩‍👧', next: 'c' },
    ]
    const [, ...lines] = table(rows, ['name', 'next'])
    expect(lines.map((line) => Bun.stringWidth(line))).toEqual([11, 11, 11])
  })

  test('a table never cuts inside one visible character', () => {
    const rows = [{ name: '👩‍👩‍👧'.repeat(10) }, { name: 'e\u0301'.repeat(30) }]
    const [, family, accents] = table(rows, ['name'], { width: 10 })
    expect(family).toBe(`${'👩‍👩‍👧'.repeat(4)}…`)
    expect(accents).toBe(`${'e\u0301'.repeat(9)}…`)
  })

  test('a table omits optional columns, the last one first, and keeps complete ones', () => {
    const rows = [{ id: 'i'.repeat(36), name: 'n'.repeat(30), more: 'm'.repeat(20) }]
    const columns = [
      { field: 'name', whole: true },
      { field: 'more', optional: true },
      { field: 'id', whole: true, optional: true },
    ] as const
    const titles = (width: number) => table(rows, columns, { width })[0]?.split(/ +/)
    expect(titles(90)).toEqual(['NAME', 'MORE', 'ID'])
    expect(titles(80)).toEqual(['NAME', 'MORE'])
    expect(titles(31)).toEqual(['NAME'])
    expect(table(rows, columns, { width: 10 })[1]).toBe('n'.repeat(30))
  })

  test('a table shows times as distances from now on a terminal, and as timestamps in a pipe', () => {
    const rows = [
      { used_at: '2026-03-01T09:00:00Z' },
      { used_at: '2026-05-29T12:00:00Z' },
      { used_at: null },
    ]
    expect(table(rows, ['used_at'])).toEqual(['USED', '3h ago', 'in 89d', '-'])
    expect(table(rows, ['used_at'], { terminal: false })).toEqual([
      'USED',
      '2026-03-01T09:00:00Z',
      '2026-05-29T12:00:00Z',
      '-',
    ])
  })

  test('a table contains no escapes from names, and no characters that change the text direction', () => {
    const [, line] = table([{ name: 'a\x1b[31mb\u202ec\u2028d' }], ['name'])
    expect(line).toBe('a?[31mb?c?d')
  })

  test('a table is complete data with --json', () => {
    const { output, printed } = opened({ json: true, width: 10 })
    output.table([{ name: 'x' }], ['name'], [{ name: 'x'.repeat(50), id: 1 }])
    expect(JSON.parse(printed.out)).toEqual([{ name: 'x'.repeat(50), id: 1 }])
  })

  test('a table is its first column with --quiet, without a heading', () => {
    expect(
      table(
        [
          { name: 'a', id: 1 },
          { name: 'b', id: 2 },
        ],
        ['name', 'id'],
        { quiet: true },
      ),
    ).toEqual(['a', 'b'])
  })
})

describe('the result of a command', () => {
  const done = (form: Form) => {
    const { output, printed } = opened(form)
    output.done('Made it.', { id: '0190', name: 'it' }, '0190')
    output.done('Changed it.', { changed: 'it' })
    output.say('Next: more')
    output.note('a remark')
    output.warn('beware')
    return printed
  }

  test('the result of a command is a sentence for people', () => {
    expect(done({})).toEqual({
      out: 'Made it.\nChanged it.\nNext: more\n',
      err: 'a remark\nbeware\n',
    })
  })

  test('the result of a command is only JSON with --json', () => {
    const { out, err } = done({ json: true })
    expect(out).toBe('{\n  "id": "0190",\n  "name": "it"\n}\n{\n  "changed": "it"\n}\n')
    expect(err).toBe('beware\n')
  })

  test('the result of a command is the new ID with --quiet', () => {
    expect(done({ quiet: true })).toEqual({ out: '0190\n', err: 'beware\n' })
  })
})

test('colours are for terminals, unless the environment sets otherwise', () => {
  expect(hasColour({}, true)).toBe(true)
  expect(hasColour({}, false)).toBe(false)
  expect(hasColour({ NO_COLOR: '1' }, true)).toBe(false)
  expect(hasColour({ NO_COLOR: '' }, true)).toBe(true)
  expect(hasColour({ FORCE_COLOR: '1' }, false)).toBe(true)
  expect(hasColour({ FORCE_COLOR: '0' }, true)).toBe(false)
  expect(hasColour({ FORCE_COLOR: '1', NO_COLOR: '1' }, true)).toBe(false)
  expect(hasColour({ TERM: 'dumb' }, true)).toBe(false)
})
