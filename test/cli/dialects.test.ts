// tier: quick
/**
 * Dialects of `.env` files: the program of each dialect reads back the written files, and the product's reader agrees
 * with that program. bash and npm's dotenv run here, docker follows its documented rules, and compose_cases.json has
 * the values that compose-go 2.1.0 read from each text.
 */
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import dotenvPackage from 'dotenv'
import fc from 'fast-check'
import { type Dialect, dialectNames, dialects } from '../../src/cli/files/dialects/index.ts'
import { readValues, writeValues } from '../../src/cli/files/formats.ts'
import { requires } from '../support/requires.ts'
import { watched } from '../support/watched.ts'
import composeCases from './compose_cases.json' with { type: 'json' }

const PIECES = [
  ...[
    'a',
    'n',
    'r',
    '0',
    ' ',
    '  ',
    '\t',
    '\n',
    '\r',
    '\r\n',
    "'",
    '"',
    '`',
    '\\',
    '$',
    '${A}',
    '$$',
  ],
  ...[
    '#',
    ' #',
    '=',
    ':',
    '~',
    '!',
    ';',
    '&',
    '|',
    '<',
    '(',
    ')',
    '{',
    '*',
    '?',
    'é',
    '😀',
    '\u00a0',
    ',',
  ],
  ...['export ', 'NAME=x', '\u2028', '\x7f', '\x01', '%', '-----BEGIN KEY-----'],
]
const value = fc
  .array(fc.constantFrom(...PIECES), { maxLength: 12 })
  .map((pieces) => pieces.join(''))

/** The values that the dialect can represent, and the file with all of them. */
function written(dialect: Dialect, values: readonly string[]) {
  const { write } = dialects[dialect]
  const held = values.filter((each) => 'line' in write('V', each))
  const named = Object.fromEntries(held.map((each, at) => [`V${at}`, each]))
  return { named, text: writeValues('dotenv', named, dialect) }
}

const read = (text: string, dialect: Dialect) =>
  readValues('a.env', new TextEncoder().encode(text), { dialect })

describe.each([...dialectNames])('%s', (dialect) => {
  test('a dialect reads every value that it writes', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 8 }), (values) => {
        const { named, text } = written(dialect, values)
        expect(read(text, dialect)).toEqual(named)
      }),
    )
  })

  test('a dialect rejects a zero byte, with the name', () => {
    if (dialect === 'dotenv')
      return expect(dialects.dotenv.write('V', 'a\0b')).toHaveProperty('line')
    expect(() => writeValues('dotenv', { V: 'a\0b' }, dialect)).toThrow('V has a zero byte')
  })
})

/** An independent reader that follows the rules of Docker's documentation. */
function readAsDocker(text: string): Record<string, string> {
  const variables: Record<string, string> = {}
  for (let line of text.split('\n')) {
    if (line.endsWith('\r')) line = line.slice(0, -1)
    while (line.startsWith(' ') || line.startsWith('\t')) line = line.slice(1)
    if (line.length === 0 || line[0] === '#') continue
    const at = line.indexOf('=')
    if (at > 0) variables[line.slice(0, at)] = line.slice(at + 1)
  }
  return variables
}

describe('docker', () => {
  test('the reader follows the documented rules of Docker', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 8 }), (values) => {
        const { named, text } = written('docker', values)
        expect(readAsDocker(text)).toEqual(named)
      }),
    )
  })

  test('a dialect rejects values that it cannot represent, and lists all their names', () => {
    const values = {
      GOOD: 'x',
      KEY: 'a\nb',
      LATE: 'a\r',
      LONG: 'x'.repeat(65_532),
      FITS: 'x'.repeat(65_530),
    }
    const attempt = () => writeValues('dotenv', values, 'docker')
    expect(attempt).toThrow("KEY has a line break, which Docker's format cannot represent")
    expect(attempt).toThrow('LATE ends with a carriage return, which Docker removes')
    expect(attempt).toThrow('LONG is longer than Docker reads (65535 bytes a line)')
    expect(attempt).not.toThrow(/GOOD|FITS/)
  })

  test('the docker dialect keeps quotes, # and blanks, and rejects lines that Docker would not set', () => {
    expect(read('A="x" # y \n  B=\n# C=1\n', 'docker')).toEqual({ A: '"x" # y ', B: '' })
    expect(() => read('A=1\nNAME\n', 'docker')).toThrow('a.env, line 2: Docker takes this value')
    expect(() => read('A B=1\n', 'docker')).toThrow('line 1: Docker rejects spaces before =')
  })
})

describe('dotenv', () => {
  test('the reader and the npm package read the same values', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 8 }), (values) => {
        const { named, text } = written('dotenv', values)
        expect(dotenvPackage.parse(text)).toEqual(named)
      }),
    )
  })

  test('the reader returns what the package returns for any text, or rejects it', () => {
    const text = fc
      .array(
        value.map((each) => `A=${each}`),
        { maxLength: 3 },
      )
      .map((all) => all.join('\n'))
    fc.assert(
      fc.property(text, (file) => {
        const { found, faults } = dialects.dotenv.read(file)
        if (faults.length > 0) return
        expect(Object.fromEntries(found.map((each) => [each.name, each.value]))).toEqual(
          dotenvPackage.parse(file),
        )
      }),
      { numRuns: 500 },
    )
  })
})

describe('bash', () => {
  const { test } = requires('bash')

  /** The value of `A` after a separate bash has sourced each file. */
  async function readByBash(files: readonly string[]): Promise<(string | null)[]> {
    const folder = mkdtempSync(join(tmpdir(), 'cr-bash-'))
    for (const [at, text] of files.entries()) writeFileSync(join(folder, String(at)), text)
    const script = `for ((i = 0; i < ${files.length}; i++)); do
      (source ./$i >/dev/null 2>&1 </dev/null; printf '%s' "$A" | base64 -w0); echo; done`
    const env = { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8' }
    const child = watched(
      Bun.spawn(['bash', '--norc', '-c', script], { cwd: folder, env, stderr: 'ignore' }),
    )
    const lines = (await new Response(child.stdout).text()).split('\n')
    rmSync(folder, { recursive: true })
    return files.map((_, at) => Buffer.from(lines[at] ?? '', 'base64').toString('utf8'))
  }

  test('a shell sets every written value', async () => {
    const values = fc.sample(value, { numRuns: 150, seed: 27 })
    const files = values.map((each) => writeValues('dotenv', { A: each }, 'bash'))
    expect(await readByBash(files)).toEqual(values)
  })

  test('a shell sets the values that the reader returns for any accepted text', async () => {
    const texts = fc.sample(value, { numRuns: 400, seed: 28 }).map((each) => `A=${each}\n`)
    const taken = texts.flatMap((text) => {
      const { found, faults } = dialects.bash.read(text)
      const [only, other] = found
      return faults.length === 0 && only?.name === 'A' && !other ? { text, value: only.value } : []
    })
    expect(taken.length).toBeGreaterThan(30)
    expect(await readByBash(taken.map(({ text }) => text))).toEqual(taken.map((each) => each.value))
  })

  test('the shell dialect rejects names that bash sets by itself', () => {
    expect(() => writeValues('dotenv', { UID: '1' }, 'bash')).toThrow(
      'UID is a variable that bash sets',
    )
    expect(() => writeValues('shell', { SECONDS: '1' })).toThrow('SECONDS is a variable')
  })

  test('the shell dialect rejects text that bash would expand or run, by line', () => {
    for (const text of [
      'A=$HOME',
      'A="$(id)"',
      'A=`id`',
      'A=x; id',
      'A=~/x',
      'A=x y',
      'id',
      'A=(1)',
    ])
      expect(() => read(`OK=1\n${text}\n`, 'bash')).toThrow('a.env, line 2: ')
  })
})

describe('compose', () => {
  test.each(composeCases as { value: string; text: string; read: string }[])(
    'compose-go reads $text as written',
    ({ value, text, read: byCompose }) => {
      expect(dialects.compose.write('A', value)).toEqual({ line: text })
      expect(byCompose).toBe(value)
      expect(read(`${text}\n`, 'compose')).toEqual({ A: value })
    },
  )

  test('the compose dialect rejects text that compose would expand, by line', () => {
    for (const text of [
      'A=$B',
      'A="$' + '{B}"',
      'A="\\$x"',
      'A="\\a"',
      'A',
      'A="x" y',
      'A="x',
      'A=#x',
    ])
      expect(() => read(`OK=1\n${text}\n`, 'compose')).toThrow('a.env, line 2: ')
  })
})
