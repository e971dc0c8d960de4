/**
 * The output for people and scripts: tables that fit the terminal, JSON on request, and colour if enabled. A command
 * passes its result once, for all forms of output.
 */
import { onScreen, printable, printableJson } from '../../core/printable.ts'
import { type Column, cell, layOut, type Row } from './table.ts'

export type Output = {
  /**
   * Rows for people; for scripts `data`, or the rows as they are; with --quiet the first column, a line for
   * each row, unless `quiet` names another.
   */
  table(rows: readonly Row[], columns: readonly Column[], data?: unknown, quiet?: string): void
  /** One thing, as lines `name  value`, or as JSON; with --quiet only `quiet`, where there is one. */
  record(fields: Row, quiet?: string): void
  /** The result: a sentence, or JSON; with --quiet the ID of the new item, or nothing. */
  done(sentence: string, data: unknown, made?: string): void
  /**
   * A text result for pipes. A pipe gets it unchanged. A terminal gets no control characters, because values and
   * answers come from other people; a line on standard error reports replacements once.
   */
  raw(text: string): void
  /** A piece of such a result in UTF-8, with the same rule. */
  bytes(chunk: Uint8Array): void
  /** Additional sentences for people, one per line; line breaks in names are escaped. */
  say(...texts: string[]): void
  /** Like `note`, on standard error, for results that are piped. */
  note(...texts: string[]): void
  /** Important messages, on standard error. */
  warn(...texts: string[]): void
  /** Waits for work. Shows progress on a terminal after a second. */
  during<T>(label: string, work: Promise<T>): Promise<T>
  isJson: boolean
  isQuiet: boolean
  /** Whether a person looks at standard output. */
  isTerminal: boolean
}

type Options = {
  json: boolean
  quiet: boolean
  colour: boolean
  width: number
  /** Whether standard output is a terminal. */
  terminal: boolean
  /** Whether standard error is a terminal. */
  watched: boolean
  now: () => Date
  out: (text: string | Uint8Array) => void
  err: (text: string) => void
}

const REPLACED =
  'Control and invisible characters are shown as ?. Pipe the output or write it to a file for the original.'

export function openOutput({ json, quiet, watched, out, err, ...screen }: Options): Output {
  const isChatty = !json && !quiet
  const asJson = (data: unknown) => out(`${printableJson(data, 2)}\n`)
  const lines = (texts: readonly string[]) => {
    for (const text of texts) out(`${text}\n`)
  }
  const warn = (...texts: string[]) => err(texts.map((text) => `${printable(text)}\n`).join(''))
  const record = (fields: Row, only?: string) => {
    if (json) asJson(fields)
    else lines(quiet && only !== undefined ? [only] : fieldLines(fields))
  }
  const write = screen.terminal ? writeOnScreen(out, err) : { raw: out, bytes: out }
  return {
    isJson: json,
    isQuiet: quiet,
    isTerminal: screen.terminal,
    table: (rows, columns, data = rows, named = fieldOf(columns[0])) => {
      if (json) asJson(data)
      else if (quiet) lines(rows.map((row) => cell(row[named])))
      else lines(layOut(rows, columns, screenOf(screen)))
    },
    record,
    done: (sentence, data, made) => {
      if (json) asJson(data)
      else if (!quiet) out(`${printable(sentence)}\n`)
      else if (made !== undefined) out(`${made}\n`)
    },
    ...write,
    say: (...texts) => {
      if (isChatty) lines(texts.map(printable))
    },
    note: (...texts) => {
      if (isChatty) warn(...texts)
    },
    warn,
    during: async (label, work) => {
      const progress = watched && !quiet ? showProgress(label, err) : null
      try {
        return await work
      } finally {
        progress?.()
      }
    },
  }
}

/** Replaces control and invisible characters by question marks. */
function writeOnScreen(out: Options['out'], err: Options['err']): Pick<Output, 'raw' | 'bytes'> {
  const decoder = new TextDecoder()
  let isNoted = false
  const writeRaw = (text: string) => {
    const { shown, isWhole } = onScreen(text)
    out(shown)
    if (isWhole || isNoted) return
    isNoted = true
    err(`${shown.endsWith('\n') ? '' : '\n'}${REPLACED}\n`)
  }
  return { raw: writeRaw, bytes: (chunk) => writeRaw(decoder.decode(chunk, { stream: true })) }
}

function screenOf({
  colour,
  width,
  terminal,
  now,
}: Omit<Options, 'json' | 'quiet' | 'watched' | 'out' | 'err'>) {
  return {
    width,
    bold: (text: string) => (colour ? `\x1b[1m${text}\x1b[0m` : text),
    now: terminal ? now() : null,
  }
}

function fieldOf(column: Column | undefined): string {
  return typeof column === 'object' ? column.field : (column ?? '')
}

function fieldLines(fields: Row): string[] {
  const widest = Math.max(...Object.keys(fields).map((name) => name.length))
  return Object.entries(fields).map(([name, value]) => `${name.padEnd(widest)}  ${cell(value)}`)
}

const TIMEOUT_MS = 1000
const FRAME_MS = 120
const FRAMES = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇']

/** Shows a wheel after the first second. The response removes it. */
function showProgress(label: string, err: (text: string) => void): () => void {
  const started = performance.now()
  const timer = setInterval(() => {
    const elapsed = performance.now() - started
    const frame = FRAMES[Math.floor(elapsed / FRAME_MS) % FRAMES.length]
    if (elapsed >= TIMEOUT_MS) err(`\r${frame} ${label} (${Math.floor(elapsed / 1000)} s)\x1b[K`)
  }, FRAME_MS)
  return () => {
    clearInterval(timer)
    if (performance.now() - started >= TIMEOUT_MS) err('\r\x1b[K')
  }
}
