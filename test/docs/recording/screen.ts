/** The lines of a terminal, each with the time since which it is shown. */
import { Terminal } from '@xterm/headless'
import { COLUMNS } from '../../cli/pseudo_terminal.ts'
import type { Event } from '../tour.ts'

/** A run of characters that look alike. */
export type Span = { text: string; look: 'plain' | 'bold' | 'dim' }
export type Row = { spans: Span[]; atMs: number }

const ROWS = 200
/** The mark before a question changes when it is answered. */
const MARK = 2
const KNOWN_BY = 12

/** `perCharacterMs`: what the person takes for each key of an answer. */
export async function rowsOf(events: readonly Event[], perCharacterMs: number) {
  const terminal = new Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true })
  const history: { atMs: number; texts: string[] }[] = []
  let typedMs = 0
  for (const event of events) {
    if ('typed' in event) {
      typedMs += event.typed.length * perCharacterMs
      continue
    }
    await new Promise<void>((written) => terminal.write(event.shown, written))
    history.push({ atMs: event.ms + typedMs, texts: textsOf(terminal) })
  }
  const texts = textsOf(terminal)
  const height = texts.findLastIndex((text) => text !== '') + 1
  const known = (text = '') => text.slice(MARK, KNOWN_BY)
  const rows = texts.slice(0, height).map((text, row): Row => {
    const since = history.find((then) => known(then.texts[row]) === known(text))
    return { spans: spansOf(terminal, row), atMs: since?.atMs ?? 0 }
  })
  return { rows, typedMs }
}

function textsOf({ buffer }: Terminal): string[] {
  return Array.from(
    { length: ROWS },
    (_, row) => buffer.active.getLine(row)?.translateToString(true) ?? '',
  )
}

function spansOf({ buffer }: Terminal, row: number): Span[] {
  const line = buffer.active.getLine(row)
  const spans: Span[] = []
  for (let column = 0; column < COLUMNS; column += 1) {
    const cell = line?.getCell(column)
    const text = cell?.getChars() || ' '
    const look = cell?.isBold() ? 'bold' : cell?.isDim() ? 'dim' : 'plain'
    const last = spans.at(-1)
    if (last?.look === look) last.text += text
    else spans.push({ text, look })
  }
  const last = spans.at(-1)
  if (last) last.text = last.text.trimEnd()
  return spans.filter(({ text }) => text !== '')
}
