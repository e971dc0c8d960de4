/**
 * Assignments that bash reads with `source`. Only literal text is accepted: text that bash would expand or run is
 * refused, and never run.
 */
import {
  findNextLine,
  matchAt,
  readStatements,
  type Statement,
} from '../../../client/secrets/lines.ts'
import type { DialectRules } from '../located.ts'

const BLANK = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y
const HEAD = /[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=/y
const SINGLE = /'([^']*)'/y
const DOUBLE = /"((?:[^"\\$`]|\\[\s\S])*)"/y
const PLAIN = /(?:[^\s'"\\$`;&|<>()#~]|(?<=[^\s])#|(?<![=:])~|\\[\s\S])+/y
/** The end of a statement: of the line, a comment, or `;` at the end of the line. */
const END = /(?:[ \t]*;)?(?:[ \t]+#[^\n]*|[ \t]*)(?:\n|$)/y

/** Variables that bash sets by itself: assignments to them fail, or are lost. */
const OWN = new Set(
  `UID EUID PPID BASHOPTS SHELLOPTS BASH_VERSINFO BASHPID BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_COMMAND BASH_LINENO
  BASH_SOURCE BASH_SUBSHELL BASH_MONOSECONDS BASH_ALIASES BASH_CMDS COMP_WORDBREAKS DIRSTACK EPOCHREALTIME EPOCHSECONDS
  FUNCNAME GROUPS HISTCMD LINENO RANDOM SECONDS SRANDOM OPTIND _`.split(/\s+/),
)

export const bash: DialectRules = {
  read: (text) => readStatements(text, { blank: BLANK, statementAt }),
  write: (name, value) => {
    if (value.includes('\0')) return { refusal: 'has a zero byte, which variables cannot contain' }
    if (OWN.has(name)) return { refusal: 'is a variable that bash sets itself' }
    return { line: `export ${name}='${value.replaceAll("'", "'\\''")}'` }
  },
}

function statementAt(text: string, at: number): Statement {
  const head = matchAt(HEAD, text, at)
  const { 0: whole = '', 1: name = '' } = head ?? []
  if (!head) return { end: findNextLine(text, at), reason: 'this is not NAME=value' }
  const { value, end } = wordAt(text, at + whole.length)
  const rest = matchAt(END, text, end)
  if (!rest) return { end: findNextLine(text, end), reason: reasonAt(text, end) }
  if (value.includes('\0')) return { end: end + rest[0].length, reason: 'there is a zero byte' }
  if (OWN.has(name))
    return { end: end + rest[0].length, reason: `${name} is a variable that bash sets itself` }
  return { name, value, end: end + rest[0].length }
}

/** Each kind of piece, with the text that bash makes of it. */
const PIECES: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [SINGLE, ([, inner = '']) => inner],
  // Between double quotes a backslash is text, but before these.
  [DOUBLE, ([, inner = '']) => inner.replace(/\\([\\$`"])|\\\n/g, '$1')],
  [PLAIN, ([whole]) => whole.replace(/\\(?:\n|([\s\S]))/g, '$1')],
]

/** Quoted and plain pieces without a blank between them are one word. */
function wordAt(text: string, start: number): { value: string; end: number } {
  let [value, end] = ['', start]
  for (let piece = pieceAt(text, end); piece !== null; piece = pieceAt(text, end)) {
    value += piece.value
    end += piece.length
  }
  return { value, end }
}

function pieceAt(text: string, at: number): { value: string; length: number } | null {
  for (const [pattern, read] of PIECES) {
    const match = matchAt(pattern, text, at)
    if (match) return { value: read(match), length: match[0].length }
  }
  return null
}

function reasonAt(text: string, at: number): string {
  const next = text[at] ?? ''
  if (next === '"' && !/"(?:[^"\\]|\\[\s\S])*"/y.test(text.slice(at)))
    return 'the quotes are not closed'
  if (next === "'") return 'the quotes are not closed'
  if (next === '"' || '$`~'.includes(next))
    return 'bash would replace $, ` or ~ here: use single quotes'
  return 'bash would run what follows the value: use quotes'
}
