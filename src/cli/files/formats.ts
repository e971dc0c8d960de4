/** Files of secrets as people have them: dotenv, JSON, YAML, and the exports of Doppler and Infisical. */
import { basename } from 'node:path'
import { explainTooLarge } from '../../client/actions/set_secrets.ts'
import { faultOfSecretName, parseDotenv, writeDotenvValue } from '../../client/secrets/dotenv.ts'
import { fromUtf8 } from '../../core/crypto/encoding.ts'
import type { Host } from '../host.ts'
import { CliError } from '../terminal/cli_error.ts'
import { readJson, readYaml } from './data.ts'
import { type Dialect, dialects } from './dialects/index.ts'
import type { Reading } from './located.ts'
import { readNamedFile } from './read.ts'

export type Values = Record<string, string>

export const exportFormats = ['dotenv', 'json', 'yaml', 'shell'] as const
export type ExportFormat = (typeof exportFormats)[number]

const ENDINGS: readonly (readonly [RegExp, ExportFormat])[] = [
  [/\.json$/i, 'json'],
  [/\.ya?ml$/i, 'yaml'],
  [/\.sh$/i, 'shell'],
  [/\.env(\.[\w-]+)?$/i, 'dotenv'],
]

/** The format by the name of a file. `.env.local` is also dotenv. */
export function formatOfName(path: string): ExportFormat | undefined {
  return ENDINGS.find(([ending]) => ending.test(path))?.[1]
}

type Note = (text: string) => void
/** A dialect of `.env` files. Without one, only text that all programs read alike is accepted. */
export type ReadOptions = { note?: Note; dialect?: Dialect | undefined }

/** The values of a file or of standard input. @throws CliError */
export function readValuesOf(host: Host, path: string, options: ReadOptions): Values {
  return readValues(basename(path), readNamedFile(host, path), options)
}

/**
 * Reads all values, or throws an error that lists every fault by line. The format follows from the file's name, else
 * from the text. A value changes only where all readers of `.env` files agree on the change, and `note` reports it.
 *
 * @throws CliError
 */
export function readValues(
  file: string,
  bytes: Uint8Array,
  { note = () => {}, dialect }: ReadOptions = {},
): Values {
  const text = decode(file, bytes)
  const isJson = /\.json$/i.test(file) || /^\s*[[{]/.test(text)
  const isYaml = /\.ya?ml$/i.test(file)
  if (dialect !== undefined) return fromDialect(file, text, dialect, note)
  if (isJson) return checkReading(file, readJson(text))
  if (isYaml) return checkReading(file, readYaml(text))
  return checkReading(file, readDotenv(file, text, note))
}

/** @throws CliError */
function checkReading(file: string, { found, faults }: Reading): Values {
  if (faults.length > 0) {
    const lines = faults.map(({ line, reason }) => `${file}, line ${line}: ${reason}`)
    throw new CliError('invalid_file', limitLines(lines), 'nothing was stored')
  }
  return checkValues(found, file)
}

/** The last of several values of a name counts, as for all programs that read the dialect; that is noted. */
function fromDialect(file: string, text: string, dialect: Dialect, note: Note): Values {
  const reading = dialects[dialect].read(text)
  const last = new Map(reading.found.map((each) => [each.name, each]))
  const replaced = reading.found.filter(({ name, value }) => last.get(name)?.value !== value)
  for (const name of new Set(replaced.map(({ name }) => name)))
    note(`${name} is in ${file} more than once: the last value is used`)
  return checkReading(file, { ...reading, found: [...last.values()] })
}

function readDotenv(file: string, text: string, note: Note): Reading {
  const { values, lines, problems, replaced } = parseDotenv(text)
  if (problems.length === 0)
    for (const key of replaced) note(`${key} is in ${file} more than once: the last value is used`)
  const found = [...values].map(([name, value]) => ({ name, value, line: lines.get(name) ?? 1 }))
  return { found, faults: problems }
}

type Checked = { name: string; value: string; line?: number }

/** @throws CliError that lists all names and values that cannot be stored as they are */
export function checkValues(entries: readonly Checked[], file?: string): Values {
  const values = new Map<string, string>()
  const faults: { at: string; reason: string; isSize: boolean }[] = []
  for (const { name, value, line } of entries) {
    const at = file === undefined || line === undefined ? '' : `${file}, line ${line}: `
    const size = explainTooLarge(name, value)
    const reason = reasonAgainst(name, value, values.get(name)) ?? size
    if (reason !== null) faults.push({ at, reason, isSize: reason === size })
    values.set(name, value)
  }
  if (faults.length === 0) return Object.fromEntries(values)
  const isSize = faults.every((fault) => fault.isSize)
  throw new CliError(
    isSize ? 'value_too_large' : 'usage',
    limitLines(faults.map(({ at, reason }) => `${at}${reason}`)),
    isSize
      ? 'nothing was stored; store a link to a large file, or split it into several secrets'
      : 'nothing was stored',
  )
}

/** Faults that fit a screen. */
const MAX_LINES = 20

function limitLines(lines: readonly string[]): readonly string[] {
  const more = lines.length - MAX_LINES
  return more > 0 ? [...lines.slice(0, MAX_LINES), `and ${more} more`] : lines
}

function reasonAgainst(name: string, value: string, before: string | undefined): string | null {
  const fault = faultOfSecretName(name)
  if (fault !== null) return fault
  if (!value.isWellFormed()) return `${name} contains an incomplete character`
  const isTwice = before !== undefined && before !== value
  return isTwice ? `${name} occurs twice with different values` : null
}

/** @throws CliError for invalid UTF-8, with the line number */
function decode(name: string, bytes: Uint8Array): string {
  const text = fromUtf8(bytes)
  if (text !== null) return text.replace(/^\ufeff/, '')
  const lines = Buffer.from(bytes).toString('latin1').split('\n')
  const line = lines.findIndex((each) => fromUtf8(Buffer.from(each, 'latin1')) === null)
  throw new CliError(
    'invalid_file',
    `${name}, line ${line + 1}: this is not UTF-8`,
    'nothing was stored',
  )
}

/** @throws CliError for values that the format or the dialect cannot hold, by name */
export function writeValues(format: ExportFormat, values: Values, dialect?: Dialect): string {
  const sorted = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))
  switch (format) {
    case 'json':
      return `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`
    case 'yaml':
      return sorted.map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`).join('')
    case 'shell':
      return dialectLines(sorted, 'bash')
    case 'dotenv':
      return dialect === undefined ? dotenvLines(sorted) : dialectLines(sorted, dialect)
  }
}

type Sorted = readonly (readonly [name: string, value: string])[]

function dotenvLines(sorted: Sorted): string {
  const refused: string[] = []
  const lines = sorted.map(([name, value]) => {
    const written = writeDotenvValue(value)
    if (written === null) refused.push(name)
    return `${name}=${written}\n`
  })
  if (refused.length === 0) return lines.join('')
  throw new CliError(
    'unreadable_value',
    `${refused.join(', ')} would be read differently by different programs in a .env file`,
    'choose the program that reads it with --dialect, or choose json, yaml or shell with --format',
  )
}

function dialectLines(sorted: Sorted, dialect: Dialect): string {
  const { write } = dialects[dialect]
  const refused: string[] = []
  const lines = sorted.map(([name, value]) => {
    const written = write(name, value)
    if ('line' in written) return `${written.line}\n`
    refused.push(`${name} ${written.refusal}`)
    return ''
  })
  if (refused.length === 0) return lines.join('')
  throw new CliError(
    'unreadable_value',
    [...limitLines(refused), 'nothing was written'],
    'choose another --dialect, or json or yaml with --format',
  )
}
