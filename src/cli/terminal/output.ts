/** What people and scripts see: tables that fit the terminal, JSON on request, colour where it is wanted. */

export type Output = {
  /** Plain text for people; silent with --json. */
  say(text: string): void
  /** The result: a table for people, `data` as it is for scripts. */
  table(rows: readonly Record<string, unknown>[], columns: readonly string[], data?: unknown): void
  /** One thing, as lines `name  value`, or as JSON. */
  record(fields: Record<string, unknown>): void
  /** The result where it is text that may be piped on. */
  raw(text: string): void
  /** Remarks, on standard error. */
  warn(text: string): void
  /** Waits for the work; where it takes over a second, a terminal sees that something is going on. */
  during<T>(label: string, work: Promise<T>): Promise<T>
  isJson: boolean
}

type Options = {
  json: boolean
  colour: boolean
  width: number
  /** Whether standard error is a terminal. */
  watched: boolean
  out: (text: string) => void
  err: (text: string) => void
}

export function openOutput({ json, colour, width, watched, out, err }: Options): Output {
  const bold = (text: string) => (colour ? `\x1b[1m${text}\x1b[0m` : text)
  return {
    isJson: json,
    say: (text) => {
      if (!json) out(`${text}\n`)
    },
    table: (rows, columns, data = rows) => {
      if (json) out(`${JSON.stringify(data, null, 2)}\n`)
      else for (const line of layOut(rows, columns, width, bold)) out(`${line}\n`)
    },
    record: (fields) => {
      if (json) {
        out(`${JSON.stringify(fields, null, 2)}\n`)
        return
      }
      const widest = Math.max(...Object.keys(fields).map((name) => name.length))
      for (const [name, value] of Object.entries(fields))
        out(`${name.padEnd(widest)}  ${cell(value)}\n`)
    },
    raw: (text) => out(text),
    warn: (text) => err(`${text}\n`),
    during: async (label, work) => {
      const progress = watched ? showProgress(label, err) : null
      try {
        return await work
      } finally {
        progress?.()
      }
    },
  }
}

const TIMEOUT_MS = 1000
const FRAME_MS = 120
const FRAMES = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇']

/** Shows a wheel after the first second; the answer takes it away. */
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

const GAP = 2
const NARROWEST = 8

function layOut(
  rows: readonly Record<string, unknown>[],
  columns: readonly string[],
  width: number,
  bold: (text: string) => string,
): string[] {
  if (rows.length === 0) return ['(none)']
  const cells = rows.map((row) => columns.map((column) => cell(row[column])))
  const titles = columns.map((column) => column.replaceAll('_', ' ').toUpperCase())
  const widths = fit(
    columns.map((_, index) =>
      Math.max(...[titles, ...cells].map((row) => Bun.stringWidth(row[index] ?? ''))),
    ),
    width,
  )
  const line = (row: readonly string[]) =>
    row
      .map((text, index) => padded(text, widths[index] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd()
  return [bold(line(titles)), ...cells.map(line)]
}

/** Takes from the widest column until the line fits. */
function fit(widths: number[], available: number): number[] {
  const fitted = [...widths]
  const total = () => fitted.reduce((sum, width) => sum + width + GAP, -GAP)
  while (total() > available) {
    const widest = fitted.indexOf(Math.max(...fitted))
    if ((fitted[widest] ?? 0) <= NARROWEST) break
    fitted[widest] = (fitted[widest] ?? 0) - 1
  }
  return fitted
}

function padded(text: string, width: number): string {
  let shown = text
  while (Bun.stringWidth(shown) > width) shown = `${[...shown].slice(0, -2).join('')}…`
  return shown + ' '.repeat(width - Bun.stringWidth(shown))
}

/** Control characters would drive the terminal: names come from other people. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value)) return value.map(cell).join(', ')
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.replace(/\p{Cc}/gu, '?')
}
