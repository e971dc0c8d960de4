/**
 * Files as Docker Compose reads them (compose-go): single quotes hold text, double quotes know escapes, and `$` is
 * replaced outside of single quotes. Text that compose would replace is refused, because it has no value here.
 */
import {
  findNextLine,
  matchAt,
  readStatements,
  type Statement,
} from '../../../client/secrets/lines.ts'
import type { DialectRules } from '../located.ts'

const BLANK = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y
const HEAD = /[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*[=:][ \t]*/y
const QUOTED = /(['"])((?:\\[\s\S]|(?!\1)[^\\])*)\1[ \t]*(?:#[^\n]*)?(?:\n|$)/y
/** Spaces of Unicode, which compose trims. */
const ODD_EDGE = /^[\s\x85]|[\s\x85]$/
const SIMPLE = /^[\w./:@%+,=-]*$/

export const compose: DialectRules = {
  read: (text) => readStatements(text.replaceAll('\r\n', '\n'), { blank: BLANK, statementAt }),
  write: (name, value) => {
    if (value.includes('\0')) return { refusal: 'has a zero byte, which variables cannot contain' }
    if (SIMPLE.test(value)) return { line: `${name}=${value}` }
    if (!/['\\\r]/.test(value)) return { line: `${name}='${value}'` }
    const escaped = value
      .replaceAll('\\', '\\\\')
      .replaceAll('"', '\\"')
      .replaceAll('$', '$$$$')
      .replaceAll('\r', '\\r')
    return { line: `${name}="${escaped}"` }
  },
}

function statementAt(text: string, at: number): Statement {
  const head = matchAt(HEAD, text, at)
  const { 0: whole = '', 1: name = '' } = head ?? []
  if (!head) return { end: findNextLine(text, at), reason: 'this is not NAME=value' }
  const start = at + whole.length
  if (text[start] === '"' || text[start] === "'") return readQuotedAt(text, start, name)
  const end = findNextLine(text, start)
  const line = text.slice(start, end).replace(/\n$/, '')
  if (line.startsWith('#')) return { end, reason: '# is ambiguous here: use quotes' }
  const { 0: value = '' } = line.split(' #')
  return { end, ...formatPlain(name, value.replace(/[ \t]+$/, '')) }
}

function formatPlain(name: string, value: string) {
  if (ODD_EDGE.test(value)) return { reason: 'compose trims the space here: use quotes' }
  if (value.includes('$')) return { reason: 'compose replaces $ here: use single quotes' }
  return value.includes('\0') ? { reason: 'there is a zero byte' } : { name, value }
}

function readQuotedAt(text: string, start: number, name: string): Statement {
  const { 0: whole, 1: quote, 2: inner = '' } = matchAt(QUOTED, text, start) ?? []
  if (whole === undefined) {
    const isOpen = !/^(['"])(?:\\[\s\S]|(?!\1)[^\\])*\1/.test(text.slice(start))
    const reason = isOpen ? 'the quotes are not closed' : 'text follows the quotes'
    return { end: isOpen ? text.length : findNextLine(text, start), reason }
  }
  const end = start + whole.length
  // A backslash is dropped before the quotes themselves, and else stays.
  const unescaped = inner.replace(/\\([\s\S])/g, (all, next) => (next === quote ? next : all))
  if (quote === "'") return { end, name, value: unescaped }
  const unknown = inner.match(/\\[\s\S]/g)?.find((pair) => !/[nrt"\\]$/.test(pair))
  if (unknown !== undefined)
    return { end, reason: 'compose interprets this backslash: use single quotes' }
  if (/\$/.test(inner.replaceAll('$$', '')))
    return { end, reason: 'compose replaces $ here: use single quotes' }
  return { end, name, value: expandEscapes(inner) }
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '\\': '\\',
}

function expandEscapes(inner: string): string {
  const text = inner.replace(/\\([nrt"\\])/g, (_, letter: string) => ESCAPES[letter] ?? letter)
  return text.replaceAll('$$', '$')
}
