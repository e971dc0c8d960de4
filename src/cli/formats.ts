/** Files of secrets as people have them: dotenv, JSON, YAML, and the exports of Doppler and Infisical. */
import { z } from 'zod'
import { EX_USAGE } from '../platform/exit_codes.ts'
import { CliError } from './terminal/cli_error.ts'

export type Values = Record<string, string>

export const exportFormats = ['dotenv', 'json', 'yaml', 'shell'] as const
export type ExportFormat = (typeof exportFormats)[number]

/** The format is told by the name, else by the text. @throws CliError */
export function readValues(name: string, text: string): Values {
  const isJson = /\.json$/i.test(name) || /^\s*[[{]/.test(text)
  const isYaml = /\.ya?ml$/i.test(name)
  if (!isJson && !isYaml) return parseDotenv(text)
  try {
    return fromData(isJson ? JSON.parse(text) : Bun.YAML.parse(text))
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError(EX_USAGE, `${name} cannot be read as ${isJson ? 'JSON' : 'YAML'}`)
  }
}

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String)
const plain = z.record(z.string(), scalar)
/** Doppler's `secrets download --format json` without flattening. */
const doppler = z.record(z.string(), z.looseObject({ computed: scalar }))
/** Infisical's export, and its older name for the same. */
const infisical = z.array(
  z.union([
    z.looseObject({ key: z.string(), value: scalar }),
    z.looseObject({ secretKey: z.string(), secretValue: scalar }),
  ]),
)

function fromData(data: unknown): Values {
  const wrapped = z.looseObject({ secrets: z.unknown() }).safeParse(data)
  const inner =
    wrapped.success && typeof wrapped.data.secrets === 'object' ? wrapped.data.secrets : data
  const list = infisical.safeParse(inner)
  if (list.success) {
    return Object.fromEntries(
      list.data.map((entry) =>
        'secretKey' in entry ? [entry.secretKey, entry.secretValue] : [entry.key, entry.value],
      ) as [string, string][],
    )
  }
  const flat = plain.safeParse(inner)
  if (flat.success) return flat.data
  const nested = doppler.safeParse(inner)
  if (nested.success)
    return Object.fromEntries(
      Object.entries(nested.data).map(([key, { computed }]) => [key, computed]),
    )
  throw new CliError(
    EX_USAGE,
    'the file must hold names with text values',
    'see: cloakroom secrets set --help',
  )
}

const LINE =
  /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?:'([^']*)'|"((?:\\.|[^"\\])*)"|([^\n]*?))\s*(?:\s#[^\n]*)?$/gm

/** `NAME=value` lines; quotes, `export` and comments as shells read them, multi-line in quotes. */
function parseDotenv(text: string): Values {
  const values: Values = {}
  for (const [, name = '', single, double, bare] of text.replaceAll('\r\n', '\n').matchAll(LINE)) {
    values[name] = single ?? (double === undefined ? (bare ?? '') : unquote(double))
  }
  return values
}

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' }

function unquote(text: string): string {
  return text.replace(/\\(.)/gs, (_, character: string) => ESCAPES[character] ?? character)
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
      return sorted.map(([name, value]) => `${name}=${quote(value)}\n`).join('')
  }
}

function quote(value: string): string {
  if (/^[A-Za-z0-9_./:@%+,=-]*$/.test(value)) return value
  const escaped = value
    .replace(/[\\"$`]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
  return `"${escaped}"`
}
