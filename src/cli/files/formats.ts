/** Files of secrets as people have them: dotenv, JSON, YAML, and the exports of Doppler and Infisical. */
import { basename } from 'node:path'
import { visit } from 'jsonc-parser'
import { LineCounter, parseDocument, type Scalar, visit as visitYaml } from 'yaml'
import { z } from 'zod'
import { parseDotenv, writeDotenvValue } from '../../client/secrets/dotenv.ts'
import { secretKey } from '../../features/secrets/contract.ts'
import { fromUtf8 } from '../../platform/crypto/encoding.ts'
import type { Host } from '../host.ts'
import { CliError } from '../terminal/cli_error.ts'
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

/** What the name of a file says of its format; `.env.local` is dotenv too. */
export function formatOfName(path: string): ExportFormat | undefined {
  return ENDINGS.find(([ending]) => ending.test(path))?.[1]
}

type Note = (text: string) => void

/** Of a file that was named, or of standard input. @throws CliError */
export function readValuesOf(host: Host, path: string, note: Note): Values {
  return readValues(basename(path), readNamedFile(host, path), note)
}

/**
 * The format is known from the name, else from the text. All values, or an error: nothing is dropped and
 * nothing replaced, but where all that read `.env` files agree on it; then `note` is told.
 *
 * @throws CliError
 */
export function readValues(name: string, bytes: Uint8Array, note: Note = () => {}): Values {
  const text = decode(name, bytes)
  const isJson = /\.json$/i.test(name) || /^\s*[[{]/.test(text)
  const isYaml = /\.ya?ml$/i.test(name)
  const entries =
    isJson || isYaml ? fromData(parse(name, text, isJson)) : fromDotenv(name, text, note)
  return checkedValues(entries)
}

/** @throws CliError for names and values that cannot be stored as they are */
export function checkedValues(entries: readonly (readonly [string, string])[]): Values {
  const values = new Map<string, string>()
  for (const [name, value] of entries) {
    const reason = reasonAgainst(name, value, values.get(name))
    if (reason !== null) throw new CliError('usage', `${name} ${reason}`, 'nothing was stored')
    values.set(name, value)
  }
  return Object.fromEntries(values)
}

function reasonAgainst(name: string, value: string, before: string | undefined): string | null {
  if (!secretKey.safeParse(name).success) return 'cannot be the name of a secret'
  if (!value.isWellFormed()) return 'holds half a character'
  return before === undefined || before === value ? null : 'is there twice, with different values'
}

/** @throws CliError for what is not UTF-8, with the number of the line */
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

function parse(name: string, text: string, isJson: boolean): unknown {
  try {
    if (!isJson) return parseYaml(name, text)
    refuseRepeated(name, text)
    return JSON.parse(text, exactly)
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError('invalid_file', `${name} cannot be read as ${isJson ? 'JSON' : 'YAML'}`)
  }
}

/** No number that is another text than what is written, such as 1.0 and 1e3: it is refused as what is no text. */
function exactly(_: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && String(value) !== context?.source ? null : value
}

/**
 * Every value as it is written: `True` and dates are texts.
 *
 * @throws CliError for a name that is there twice, and for a value that could be meant in another way
 */
function parseYaml(file: string, text: string): unknown {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { merge: true, logLevel: 'error', lineCounter })
  const [error] = document.errors
  if (error?.code === 'DUPLICATE_KEY') {
    const [, name = 'a name'] = /^["']?(\w+)/.exec(text.slice(error.pos[0])) ?? []
    throw isTwice(file, error.linePos?.[0].line ?? 1, name)
  }
  if (error) throw error
  visitYaml(document, {
    Scalar(_, node) {
      const why = reasonAgainstScalar(node)
      const { line } = lineCounter.linePos(node.range?.[0] ?? 0)
      if (why !== null) throw noTexts(`: ${file}, line ${line} has ${why}`)
      if (typeof node.value === 'boolean') node.value = node.source
    },
  })
  return document.toJS()
}

function reasonAgainstScalar({ value, source, tag }: Scalar): string | null {
  if (tag !== undefined && tag !== 'tag:yaml.org,2002:str') return 'a tag that has no meaning here'
  if (value === null) return 'a name without a value'
  return typeof value === 'number' && String(value) !== source ? 'a number that needs quotes' : null
}

function isTwice(file: string, line: number, name: string): CliError {
  return new CliError(
    'invalid_file',
    `${file}, line ${line}: ${name} is there twice`,
    'nothing was stored',
  )
}

/** The runtime's parser takes the last of several values of one name and says nothing. @throws CliError */
function refuseRepeated(file: string, text: string): void {
  const open: Set<string>[] = []
  visit(text, {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty: (name, _, __, line) => {
      const names = open.at(-1)
      if (names?.has(name)) {
        throw isTwice(file, line + 1, name)
      }
      names?.add(name)
    },
  })
}

function fromDotenv(name: string, text: string, note: Note): [string, string][] {
  const { values, problems, replaced } = parseDotenv(text)
  if (problems.length === 0) {
    for (const key of replaced) note(`${key} is in ${name} more than once: the last value counts`)
    return [...values]
  }
  const lines = problems.map(({ line, reason }) => `${name}, line ${line}: ${reason}`)
  throw new CliError('invalid_file', lines, 'nothing was stored')
}

/** Of other numbers, digits are lost before they arrive here: they need quotes. */
const scalar = z.union([z.string(), z.int(), z.boolean()]).transform(String)
/** Doppler's `secrets download --format json` without flattening. */
const doppler = z.looseObject({ computed: scalar }).transform(({ computed }) => computed)
/** Infisical's export, and its older name for the same. */
const infisical = z.array(
  z.union([
    z.looseObject({ key: z.string(), value: scalar }),
    z.looseObject({ secretKey: z.string(), secretValue: scalar }),
  ]),
)

function fromData(data: unknown): [string, string][] {
  const inner = unwrapped(data)
  const list = infisical.safeParse(inner)
  if (list.success) {
    return list.data.map((entry) =>
      'secretKey' in entry ? [entry.secretKey, entry.secretValue] : [entry.key, entry.value],
    ) as [string, string][]
  }
  const named = entriesIn(inner, scalar) ?? entriesIn(inner, doppler)
  if (named === null) throw noTexts()
  return named
}

/** What exports have under `secrets`. @throws CliError where names beside it would be lost */
function unwrapped(data: unknown): unknown {
  const { secrets = null, ...others }: Record<string, unknown> = Object(data)
  if (typeof secrets !== 'object' || secrets === null) return data
  const beside = Object.keys(others)
  if (beside.length === 0) return secrets
  throw noTexts(`: it has ${beside.join(', ')} beside \`secrets\`, which would be lost`)
}

/** All of its names, or `null` where a value is of another form. */
function entriesIn(inner: unknown, form: z.ZodType<string>): [string, string][] | null {
  if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return null
  const entries: [string, string][] = []
  for (const [name, value] of Object.entries(inner)) {
    const { success, data } = form.safeParse(value)
    if (!success) return null
    entries.push([name, data])
  }
  return entries
}

function noTexts(why = ''): CliError {
  return new CliError(
    'invalid_file',
    `the file must hold names with text values${why}`,
    'see: cloakroom secrets set --help',
  )
}

export function writeValues(format: ExportFormat, values: Values): string {
  const sorted = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))
  switch (format) {
    case 'json':
      return `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`
    case 'yaml':
      return sorted.map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`).join('')
    case 'shell':
      return sorted
        .map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`)
        .join('')
    case 'dotenv':
      return sorted.map(([name, value]) => dotenvLine(name, value)).join('')
  }
}

/** @throws CliError for a value that programs would read in different ways, however it is written */
function dotenvLine(name: string, value: string): string {
  const written = writeDotenvValue(value)
  if (written !== null) return `${name}=${written}\n`
  throw new CliError(
    'unreadable_value',
    `${name} cannot be written to a .env file so that every program reads the same value`,
    'choose json, yaml or shell with --format',
  )
}
