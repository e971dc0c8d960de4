/**
 * Text that an agent wrote, on the screen where a person decides. Each row begins with a gutter and fits the terminal,
 * so the text cannot paint rows that look like the screen's own.
 */
import { utf8 } from '../../core/crypto/encoding.ts'

const GUTTER = '│ '
const NARROWEST = 20
/** Terminals disagree about the width of characters outside ASCII, so each counts as the widest. */
const WIDEST_CHARACTER = 2
const ASCII = /^[ -~]$/
/** More than 8 blanks, more than 8 empty lines, or one character. U+2800 is a blank of Braille. */
const PIECES = /(?:[^\S\n]|\u2800){9,}|\n(?:(?:[^\S\n]|\u2800)*\n){9,}|./gsu

/** `more` is the command that prints all of the text. */
export type QuoteLimits = { width: number; most: number; more: string }

/** At most `most` rows. A last row has the number of bytes that are not shown, and where to read them. */
export function quoteText(text: string, { width, most, more }: QuoteLimits): string[] {
  const rows: string[] = []
  for (const { row, from } of wrapRows(text, Math.max(NARROWEST, width - GUTTER.length))) {
    if (rows.length === most) {
      const left = utf8(text.slice(from)).length.toLocaleString('en')
      return [...rows, `… ${left} more bytes; print all of it with \`${more}\``]
    }
    rows.push(`${GUTTER}${row}`)
  }
  return rows
}

type Row = { row: string; from: number }

/** Rows of a text, with the place where each begins. */
function* wrapRows(text: string, width: number): Generator<Row, void> {
  let row = ''
  let used = 0
  let from = 0
  for (const { 0: piece, index } of text.matchAll(PIECES)) {
    const isBreak = piece.startsWith('\n')
    const shown = isBreak ? '' : escapePiece(piece)
    const cells = cellsOf(shown)
    if (isBreak || used + cells > width) {
      yield { row, from }
      row = ''
      used = 0
      from = isBreak ? index + piece.length : index
    }
    if (isBreak && piece.length > 1) yield { row: runOf(piece.length - 1), from: index + 1 }
    row += shown
    used += cells
  }
  yield { row, from }
}

function escapePiece(piece: string): string {
  if (piece === '\t') return '⇥'
  return [...piece].length > 1 ? runOf(piece.length) : piece
}

function runOf(length: number): string {
  return `·×${length}`
}

function cellsOf(shown: string): number {
  return [...shown].reduce((sum, one) => sum + (ASCII.test(one) ? 1 : WIDEST_CHARACTER), 0)
}
