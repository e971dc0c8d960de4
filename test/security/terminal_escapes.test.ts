/** What a server or another person wrote does not drive the terminal of who reads an error. */
import { expect, test } from 'bun:test'
import { CliError } from '../../src/cli/terminal/cli_error.ts'
import { explain, sentences } from '../../src/cli/terminal/explain.ts'
import { ApiError } from '../../src/client/api.ts'

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

test('and ordinary text stays as it is', () => {
  const text = 'Größe, 漢字, 😀\n\tindented'
  expect(sentences(explain(new CliError('failed', text)))).toEqual([text])
})
