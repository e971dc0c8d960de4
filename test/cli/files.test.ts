// tier: quick
/** JSON and YAML files: every value is stored as written or refused, and never lost silently. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readValues, writeValues } from '../../src/cli/files/formats.ts'

const read = (name: string, text: string) => readValues(name, new TextEncoder().encode(text))

const EXACT = ['0', '42', '-7', '9007199254740991', 'true', 'false']
const WORDS = ['yes', 'No', 'on', 'True', 'FALSE', '2026-11-23', '12:30:00', '1_000', '08:00']
const NUMBERS = ['1e3', '1.0', '-0', '0.10', '12345678901234567890']
const OTHER = ['007', '+5', '.5', '0x10', '0o17', '.inf', '.NaN', '1E3']

test.each([...EXACT, ...WORDS])('YAML: %s stays unchanged', (text) => {
  expect(read('a.yaml', `A: ${text}\nB: "${text}"\n`)).toEqual({ A: text, B: text })
})
test.each(EXACT)('JSON: %s stays unchanged', (text) => {
  expect(read('a.json', `{"A":${text},"B":"${text}"}`)).toEqual({ A: text, B: text })
})
test.each([...NUMBERS, ...OTHER])('YAML: %s is rejected, and accepted in quotes', (text) => {
  expect(() => read('a.yaml', `A: x\nB: ${text}\n`)).toThrow(
    'a.yaml, line 2: B is a number that needs quotes',
  )
  expect(read('a.yaml', `B: '${text}'\n`)).toEqual({ B: text })
})
test.each(NUMBERS)('JSON: %s is rejected, and accepted in quotes', (text) => {
  expect(() => read('a.json', `{"A":${text}}`)).toThrow('line 1: A is a number that needs quotes')
  expect(read('a.json', `{"A":"${text}"}`)).toEqual({ A: text })
})

describe('rejected, because data would be lost', () => {
  test.each([
    ['a.json', '{"secrets":{"A":"1"},"B":"2"}', 'B beside `secrets`'],
    ['a.json', '{"secrets":[{"key":"A","value":"1"}],"imports":[]}', 'imports beside `secrets`'],
    ['a.yaml', 'secrets:\n  A: x\nB: y\n', 'B beside `secrets`'],
    ['a.json', '{"__proto__":"x","A":"y"}', '__proto__ is not a valid secret name'],
    ['a.yaml', 'A:\n', 'a.yaml, line 1: A has no value (null)'],
    ['a.yaml', 'A: x\nB: ~\n', 'a.yaml, line 2: B has no value (null)'],
    ['a.yaml', 'A: null\n', 'A has no value (null)'],
    ['a.json', '{"A":"x",\n"B":null}', 'a.json, line 2: B has no value (null)'],
    ['a.json', '{"A":"x",\n"B":{"C":1}}', 'a.json, line 2: B is a nested object, not text'],
    ['a.json', '{"A":"x",\n"B":[1]}', 'a.json, line 2: B is a list, not text'],
    ['a.json', '{"A":"x"\n"B":"y"}', 'a.json, line 2: this is not JSON'],
    ['a.json', '{"A":"x",\n"B":"y",}', 'a.json, line 2: this is not JSON'],
    [
      'a.json',
      '{"A":null,\n"B":1.0}',
      'line 1: A has no value (null)\na.json, line 2: B is a number',
    ],
    ['a.yaml', 'A: x\nB:\n  C: y\n', 'line 2: B is a nested object, not text'],
    ['a.yaml', 'A: x\nB: *gone\n', 'a.yaml, line 2: an alias has no anchor'],
    ['a.yaml', 'A: x\nB:\n\tC: y\n', 'a.yaml, line 3: a tab indents this line: use spaces'],
    ['a.yaml', 'A: &a\n  C: y\n<<: *a\n', 'line 1: A is a nested object'],
    ['a.yaml', 'A: !!binary aGk=\n', 'an unsupported tag'],
    ['a.yaml', 'A: !vault x\n', 'an unsupported tag'],
    ['a.yaml', 'A7: x\n7: x\n', '7 is not a valid secret name'],
    ['a.yaml', '1e3: x\n', '1e3 is not a valid secret name'],
    ['a.yaml', '---\nA: 1\n---\nB: 2\n', 'a second document'],
    ['a.yaml', 'A: [x]\n', 'line 1: A is a list, not text'],
  ])('%s %s', (name, text, why) => {
    expect(() => read(name, text)).toThrow(why)
  })
})

test('the reader still accepts a secret called `secrets`, names like words, anchors and quoted nulls', () => {
  expect(read('a.json', '{"secrets":{"A":"1"}}')).toEqual({ A: '1' })
  expect(read('a.json', '{"secrets":[{"key":"A","value":"1"}]}')).toEqual({ A: '1' })
  expect(read('a.json', '{"secrets":"x","B":"2"}')).toEqual({ secrets: 'x', B: '2' })
  expect(read('a.yaml', 'A: &a hi\nB: *a\nC: !!str 5\n')).toEqual({ A: 'hi', B: 'hi', C: '5' })
  expect(read('a.yaml', 'True: x\nNo: y\n')).toEqual({ True: 'x', No: 'y' })
  expect(read('a.yaml', 'A: "null"\nB: "~"\n')).toEqual({ A: 'null', B: '~' })
})

test('no name in a file that the writer writes is skipped when it is read', () => {
  const name = fc.oneof(
    fc.constantFrom('secrets', 'key', 'computed', 'value'),
    fc.stringMatching(/^[A-Z_]{1,8}$/),
  )
  const values = fc.uniqueArray(fc.tuple(name, fc.string()), {
    minLength: 1,
    selector: ([key]) => key,
  })
  fc.assert(
    fc.property(values, (entries) => {
      const values = Object.fromEntries(entries)
      for (const format of ['json', 'yaml'] as const) {
        const given = read(`a.${format}`, writeValues(format, values))
        expect(Object.entries(given).sort()).toEqual([...entries].sort())
      }
    }),
  )
})
