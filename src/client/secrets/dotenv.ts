/**
 * `.env` files. There is no standard, and programs parse them differently. This accepts only text that `docker
 * compose`, npm's dotenv and Bun's loader read alike, and rejects other lines: an almost correct credential is worse
 * than none. test/cli/dotenv_cases.json has what each of them reads.
 *
 * One exception: `$` in single quotes is text, as for shells, dotenv and compose. Bun replaces it.
 */
import { secretKey } from '../../core/validation/validate.ts'
import { findNextLine, lineNumbers, matchAt, readStatements, type Statement } from './lines.ts'

export type Problem = { line: number; reason: string }

type Reading = { value: string } | { reason: string }
/** With where the next line begins. */
type Scan = Reading & { end: number }

const LINE_END = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y
/** `export` before the name; also `NAME: value`, which all of them take for `NAME=value`. */
const HEAD = /[ \t]*(?:export[ \t]+)?(?!export[ \t])([\w.-]+)(?:[ \t]*=|:[ \t]+(?=[^\s#]))[ \t]*/y
const DOUBLE = /"([^"\\]*(?:\\[\s\S][^"\\]*)*)"/y
const SINGLE = /'([^']*)'/y
const BARE = /[^\n]*/y
/** Variables, and a backslash that escapes them in some programs. */
const VARIABLE = /\$[\w{$]|\\\$/
/** Escapes that compose knows and others do not. All know `\n` and `\r`. */
const DISPUTED_ESCAPE = /\\[abcftv$"\\0]/
/** Other spaces than blank and tab are trimmed by some only. */
const ODD_EDGE = /^[\s\x85]|[\s\x85]$/

export type Dotenv = {
  values: Map<string, string>
  /** The position of each value. */
  lines: Map<string, number>
  problems: Problem[]
  /** Names that occur more than once: all of those programs use the last value. */
  replaced: Set<string>
}

/** All values, or all problems: with a problem there are no values. */
export function parseDotenv(text: string): Dotenv {
  const { found, faults: problems } = readStatements(text, { blank: LINE_END, statementAt })
  const stray = /\r(?!\n)|\0/.exec(text)
  if (stray) {
    const line = lineNumbers(text)(stray.index)
    problems.push({ line, reason: 'contains a control character' })
  }
  problems.sort((one, other) => one.line - other.line)
  const good = problems.length > 0 ? [] : found
  const values = new Map(good.map(({ name, value }) => [name, value]))
  const lines = new Map(good.map(({ name, line }) => [name, line]))
  const other = found.filter(({ name, value }) => values.get(name) !== value)
  return { values, lines, problems, replaced: new Set(other.map(({ name }) => name)) }
}

/** Returns a value as the programs above read it back; `null` if they disagree about every way to write it. */
export function writeDotenvValue(value: string): string | null {
  const escaped = `"${value.replaceAll('\r', '\\r')}"`
  const isSimple = /^[\w./:@%+,=-]*$/.test(value)
  const ways = [...(isSimple ? [value] : []), `'${value}'`, escaped, value]
  return ways.find((way) => parseDotenv(`A=${way}\n`).values.get('A') === value) ?? null
}

function statementAt(text: string, at: number): Statement {
  const head = matchAt(HEAD, text, at)
  const [whole = '', name = ''] = head ?? []
  if (!head) return { end: findNextLine(text, at), reason: 'this is not NAME=value' }
  const scan = scanValue(text, at + whole.length)
  const reason = faultOfSecretName(name)
  return reason === null ? { ...scan, name } : { end: scan.end, reason }
}

/** Why a secret cannot have this name, or null. */
export function faultOfSecretName(name: string): string | null {
  const { error } = secretKey.safeParse(name)
  return error ? `${name} is not a valid secret name: it ${error.issues[0]?.message}` : null
}

function scanValue(text: string, at: number): Scan {
  if (text[at] === '`') {
    return {
      end: findNextLine(text, at),
      reason: 'only some programs support ` as quotes: use other quotes',
    }
  }
  if (text[at] === '"') return scanQuoted(text, at, DOUBLE, readDouble)
  if (text[at] === "'") return scanQuoted(text, at, SINGLE, readSingle)
  const bare = matchAt(BARE, text, at)?.[0] ?? ''
  return { end: findNextLine(text, at), ...readBare(bare.replace(/\r$/, '')) }
}

function scanQuoted(
  text: string,
  at: number,
  form: RegExp,
  read: (inner: string) => Reading,
): Scan {
  const [whole, inner = ''] = matchAt(form, text, at) ?? []
  if (whole === undefined) return { end: text.length, reason: 'the quotes are not closed' }
  const after = at + whole.length
  const rest = matchAt(LINE_END, text, after)
  if (!rest) return { end: findNextLine(text, after), reason: 'text follows the quotes' }
  const end = after + rest[0].length
  if (inner.includes('\r')) return { end, reason: 'a carriage return is inside the quotes' }
  return { end, ...read(inner) }
}

function readDouble(inner: string): Reading {
  const disputed = DISPUTED_ESCAPE.exec(inner)?.[0]
  if (disputed) return { reason: `${disputed} is ambiguous here: use single quotes` }
  if (VARIABLE.test(inner)) return { reason: 'some programs replace $ here: use single quotes' }
  return { value: inner.replaceAll('\\n', '\n').replaceAll('\\r', '\r') }
}

function readSingle(inner: string): Reading {
  if (inner.endsWith('\\')) return { reason: "\\' is ambiguous here" }
  return { value: inner }
}

/** Up to the end of the line, or a comment after a blank. */
function readBare(line: string): Reading {
  const comment = line.indexOf('#')
  if (comment >= 0 && line[comment - 1] !== ' ') {
    return { reason: 'this # starts a comment in some programs: use quotes' }
  }
  const value = (comment < 0 ? line : line.slice(0, comment)).replace(/[ \t]+$/, '')
  if (ODD_EDGE.test(value)) return { reason: 'some programs trim the space here: use quotes' }
  if (VARIABLE.test(value)) return { reason: 'some programs replace $ here: use single quotes' }
  return { value }
}
