// tier: quick
/** Text from a server or another person cannot control the terminal of a user who reads an error. */
import { expect, test } from 'bun:test'
import { CliError } from '../../src/cli/terminal/cli_error.ts'
import { errorText, explain, sentences } from '../../src/cli/terminal/explain.ts'
import { ApiError } from '../../src/client/http/api.ts'
import { printable, printableJson } from '../../src/core/printable.ts'

const ESCAPES = '\x1b]0;title\x07\x1b[31mred\x1b[2J\x9b1m\r\x00'

test.each([
  ['of a server', new ApiError(400, { error_code: ESCAPES, message: ESCAPES })],
  [
    'about a field',
    new ApiError(422, { error_code: 'x', message: 'y', fields: [{ path: ESCAPES, message: 'z' }] }),
  ],
  ['with a name from elsewhere', new CliError('failed', `the key of ${ESCAPES}`, `ask ${ESCAPES}`)],
  ['of any other kind', new Error(ESCAPES)],
])('an error %s shows none', (_, error) => {
  const shown = sentences(explain(error)).join('\n')
  expect(shown).toContain('?[31mred?[2J')
  expect(shown).not.toMatch(/[^\P{Cc}\t\n]/u)
})

test('ordinary text is unchanged', () => {
  const text = 'Größe, 漢字, 😀\n\tindented'
  expect(sentences(explain(new CliError('failed', text)))).toEqual([text])
})

/** Invisible characters: bidirectional controls, zero width, fillers, tags, selectors, joiners between letters. */
const UNSEEN = [
  ...[0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0x061c],
  ...[0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2060, 0x2061, 0x2064, 0x206f, 0xfeff, 0x00ad],
  ...[0x034f, 0x115f, 0x1160, 0x17b4, 0x180e, 0x3164, 0xffa0, 0xfe00, 0xfe0e, 0xfe0f, 0xfff9],
  ...[0xe0001, 0xe0041, 0xe007f, 0xe0100, 0xe01ef, 0x2028, 0x2029, 0x1b, 0x7f, 0x9b, 0x85],
].map((point) => String.fromCodePoint(point))

test.each(UNSEEN)('%j is shown, in names, errors and JSON', (character) => {
  const text = `pay${character}ments`
  expect(printable(text)).toBe('pay?ments')
  expect(sentences(explain(new Error(text)))).toContain('pay?ments')
  for (const json of [printableJson({ text }, 2), printableJson([text])]) {
    expect(json).not.toContain(character)
    expect(Object.values(JSON.parse(json))).toEqual([text])
  }
  expect(errorText(explain(new Error(text)), true)).not.toContain(character)
})

test.each(['Größe', '漢字', 'العربية', 'हिन्दी', '👨‍👩‍👧', '👩🏽‍💻', '❤️‍🔥', '1️⃣', 'Zürich – „a“ …'])(
  '%s stays unchanged',
  (text) => {
    expect(printable(text)).toBe(text)
    expect(printableJson({ text })).toBe(JSON.stringify({ text }))
  },
)
