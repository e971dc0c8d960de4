// tier: quick
/**
 * `.env` files: text that docker compose, npm's dotenv and Bun read alike is read the same way, and the rest is
 * rejected by line. The table has each program's result for each text; dotenv and Bun run again here, and compose is
 * compose-go 2.16.2 at the time the table was made.
 */
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import dotenv from 'dotenv'
import fc from 'fast-check'
import { readValues } from '../../src/cli/files/formats.ts'
import { parseDotenv, writeDotenvValue } from '../../src/client/secrets/dotenv.ts'
import { watched } from '../support/watched.ts'
import table from './dotenv_cases.json' with { type: 'json' }

type Values = Record<string, string>
type Case = {
  text: string
  /** The values that all programs read. */
  all?: Values
  /** The values of each program, if they disagree. */
  dotenv?: Values
  bun?: Values
  compose?: Values | 'error'
  /** The lines that the reader rejects. */
  refused?: number[]
  /** The values that the reader returns although the programs disagree. */
  accepted?: Values
  /** The reason, if the reader differs from the programs or accepts a text on which they disagree. */
  why?: string
}

const cases = table as Case[]
const bytes = (text: string) => new TextEncoder().encode(text)

describe.each(cases.map((each) => [JSON.stringify(each.text), each] as const))('%s', (_, each) => {
  const { text, all, refused, accepted, why } = each

  test('a file is read the way all readers read it, or rejected by line', () => {
    const { values, problems } = parseDotenv(text.replace(/^\ufeff/, ''))
    expect(problems.map(({ line }) => line)).toEqual(refused ?? [])
    expect(Object.fromEntries(values)).toEqual(refused ? {} : (accepted ?? all ?? {}))
    // An exception has a reason.
    const isException = all ? refused !== undefined : refused === undefined
    expect(why !== undefined).toBe(isException)
  })

  test('dotenv reads the cases as the table lists them', () => {
    expect(dotenv.parse(text)).toEqual(all ?? each.dotenv ?? {})
  })
})

test('the table has the values that Bun loads', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'cr-dotenv-'))
  const script = 'console.log(JSON.stringify({ ...process.env, PATH: undefined }))'
  const load = async ({ text }: Case, index: number): Promise<unknown> => {
    const file = join(directory, `${index}.env`)
    writeFileSync(file, text)
    const command = [process.execPath, `--env-file=${file}`, '-e', script]
    const env = { PATH: '/' }
    const child = watched(Bun.spawn(command, { cwd: directory, env, stdout: 'pipe' }))
    return JSON.parse(await new Response(child.stdout).text())
  }
  for (let from = 0; from < cases.length; from += 8) {
    const some = cases.slice(from, from + 8)
    const loaded = await Promise.all(some.map((each, index) => load(each, from + index)))
    expect(loaded).toEqual(some.map(({ all, bun }) => all ?? bun))
  }
  rmSync(directory, { recursive: true })
}, 120_000)

test('any accepted text is read in the same way by dotenv and Bun', () => {
  const piece = fc.constantFrom(
    ...['A=', 'B=', 'export ', 'A: ', '\n', '\n', ' ', '\t', '\r\n', '\r', "'", "'", '"', '"', '`'],
    ...['#', ' #', '\\', '\\n', '\\r', '\\"', '\\t', 'x', 'y=1', '$', '%', '=', ':', 'é', '\u00a0'],
  )
  const text = fc.array(piece, { maxLength: 14 }).map((pieces) => `A=${pieces.join('')}`)
  fc.assert(
    fc.property(text, (file) => {
      const { values, problems } = parseDotenv(file)
      if (problems.length > 0) return
      expect(dotenv.parse(file)).toEqual(Object.fromEntries(values))
      // Without the replacement of variables, which the loader adds.
      expect({ ...parseEnv(file) }).toEqual(Object.fromEntries(values))
    }),
    { numRuns: 20_000 },
  )
})

describe('a written value', () => {
  const value = fc.string({ unit: fc.constantFrom(...`aB1 '"\`\\$#=\n\r\té`), maxLength: 12 })

  test('a written value is read unchanged by the reader and by dotenv, or rejected on writing', () => {
    fc.assert(
      fc.property(value, (given) => {
        const written = writeDotenvValue(given)
        if (written === null) return
        const file = `A=${written}\nB=2\n`
        expect(Object.fromEntries(parseDotenv(file).values)).toEqual({ A: given, B: '2' })
        expect(dotenv.parse(file)).toEqual({ A: given, B: '2' })
      }),
      { numRuns: 20_000 },
    )
  })

  test.each([
    ['', ''],
    ['sk_live_0/+=', 'sk_live_0/+='],
    ['two words', "'two words'"],
    ['pa$word', "'pa$word'"],
    ["it's", `"it's"`],
    ['{"a":"it\'s"}', '{"a":"it\'s"}'],
    ['line\nline', "'line\nline'"],
    ['crlf\r\n', '"crlf\\r\n"'],
    ['C:\\dir', "'C:\\dir'"],
    [`both ' and "\n`, null],
    [`$HOME's`, null],
  ])('%j becomes %j', (given, written) => {
    expect(writeDotenvValue(given)).toBe(written)
  })
})

describe('a file', () => {
  test.each([
    [
      '.env',
      'A=1\nB=x#y\nC\n',
      '.env, line 2: this # starts a comment in some programs: use quotes\n.env, line 3: this is not NAME=value',
    ],
    ['.env', 'A=1\nB="x\n', '.env, line 2: the quotes are not closed'],
    ['.env', 'A=1\nB-C=2\n', '.env, line 2: B-C is not a valid secret name'],
    ['.env', '__proto__=1', '.env, line 1: __proto__ is not a valid secret name'],
    ['a.json', '{"A":"1","B-C":"2"}', 'B-C is not a valid secret name'],
    ['a.json', '{"A":"1","B":"\\ud800"}', 'B contains an incomplete character'],
    [
      'a.json',
      '[{"key":"A","value":"1"},{"key":"A","value":"2"}]',
      'A occurs twice with different values',
    ],
    ['a.json', '{"A":"1",\n"A":"2"}', 'a.json, line 2: A occurs twice'],
    ['a.json', '{"secrets":{"A":"1","A":"1"}}', 'a.json, line 1: A occurs twice'],
    [
      'a.json',
      '{"A":1,\n"B":12345678901234567890}',
      'a.json, line 2: B is a number that needs quotes',
    ],
    ['a.yaml', 'B: 1\nA: 1\nA: 2\n', 'a.yaml, line 3: A occurs twice'],
    ['a.yaml', 'secrets:\n  A: 1\n  "A": 1\n', 'a.yaml, line 3: A occurs twice'],
    ['a.yaml', 'A: [', 'a.yaml, line 1: this is not YAML'],
    ['a.yaml', 'A: 1.10', 'a.yaml, line 1: A is a number that needs quotes'],
  ])('%s with %j is rejected as a whole', (name, text, message) => {
    expect(() => readValues(name, bytes(text))).toThrow(message)
  })

  test('a file with values over the limit is rejected with each name, line, size and the limit', () => {
    const files = {
      'a.env': (value: string) =>
        `SMALL=1\nBIG=${value}\nFITS=${value.slice(1)}\nOTHER=x${value}\n`,
      'a.yaml': (value: string) =>
        `SMALL: x\nBIG: ${value}\nFITS: ${value.slice(1)}\nOTHER: x${value}\n`,
      'a.json': (value: string) =>
        `{"SMALL":"1",\n"BIG":"${value}",\n"FITS":"${value.slice(1)}",\n"OTHER":"x${value}"}`,
    }
    for (const [name, write] of Object.entries(files))
      expect(() => readValues(name, bytes(write('x'.repeat(98_272))))).toThrow(
        expect.objectContaining({
          code: 'value_too_large',
          message: `${name}, line 2: BIG has 98,272 bytes; the limit is 98,271\n${name}, line 4: OTHER has 98,273 bytes; the limit is 98,271`,
        }),
      )
  })

  test('a file in Latin-1 is rejected with the line number', () => {
    const latin = Buffer.from('A=1\nB=caf\u00e9\n', 'latin1')
    expect(() => readValues('.env', latin)).toThrow('.env, line 2: this is not UTF-8')
  })

  test('a file may begin with a byte order mark', () => {
    expect(readValues('.env', bytes('\ufeffA=1'))).toEqual({ A: '1' })
    expect(readValues('a.json', bytes('\ufeff{"A":"1"}'))).toEqual({ A: '1' })
  })

  test('a file with a name twice yields the last value, as all readers do, and a warning', () => {
    const notes: string[] = []
    const text = 'A=first\nB=2\nC=3\nC=3\nA=last\n'
    const values = readValues('.env', bytes(text), { note: (text) => notes.push(text) })
    expect(values).toEqual({ A: 'last', B: '2', C: '3' })
    expect(notes).toEqual(['A is in .env more than once: the last value is used'])
  })

  test('an error never contains a value', () => {
    const text = "A='not closed sk_live\nsk_live_alone\n"
    const error = (() => {
      try {
        return readValues('.env', bytes(text))
      } catch (thrown) {
        return String(thrown)
      }
    })()
    expect(error).not.toContain('sk_live')
  })

  test('a file with a megabyte in quotes is read quickly', () => {
    const long = 'x\n'.repeat(500_000)
    expect(parseDotenv(`A="${long}"\n`).values).toEqual(new Map([['A', long]]))
    expect(parseDotenv(`A='${long}'\n`).values).toEqual(new Map([['A', long]]))
    expect(() => readValues('.env', bytes(`A="${'\\'.repeat(500_001)}`))).toThrow('not closed')
  })
})
