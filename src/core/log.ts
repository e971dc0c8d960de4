/**
 * Structured logs: one JSON object per line on standard error. Callers pass names, ids, codes and
 * durations; never bodies, query strings, header values (but for the name of a refused host) or secrets.
 */
import { printableJson } from './printable.ts'
import { traceIds } from './trace/span.ts'

const severities = ['debug', 'info', 'warning', 'error'] as const
export type Severity = (typeof severities)[number]
type Fields = Record<string, string | number | boolean | null | undefined>

export type Log = {
  [level in Severity]: (message: string, fields?: Fields) => void
}

/** Writes lines of at least `least` severity to `write`. */
export function openLog(least: Severity, write: (line: string) => void = writeError): Log {
  const entry = (level: Severity) => {
    if (severities.indexOf(level) < severities.indexOf(least)) return () => {}
    return (message: string, fields: Fields = {}) =>
      write(
        `${printableJson({ time: formatNow(), level, pid: process.pid, message, ...fields, ...traceIds() })}\n`,
      )
  }
  return {
    debug: entry('debug'),
    info: entry('info'),
    warning: entry('warning'),
    error: entry('error'),
  }
}

const MAX_REMEMBERED = 50

/** A log that keeps its last warnings and errors. */
export function rememberProblems(log: Log): { log: Log; problems: string[] } {
  const problems: string[] = []
  const keep =
    (level: 'warning' | 'error') =>
    (message: string, fields: Fields = {}) => {
      problems.push(JSON.stringify({ time: formatNow(), level, message, ...fields, ...traceIds() }))
      if (problems.length > MAX_REMEMBERED) problems.shift()
      log[level](message, fields)
    }
  return { log: { ...log, warning: keep('warning'), error: keep('error') }, problems }
}

let lastTime = { ms: 0, text: '' }

/** Made once for each millisecond: many lines are written in one. */
function formatNow(): string {
  const ms = Date.now()
  if (ms !== lastTime.ms) lastTime = { ms, text: new Date(ms).toISOString() }
  return lastTime.text
}

/**
 * Returns the loggable parts of an unexpected error: its class, code and stack frames. Messages are left out, because
 * drivers quote parameters and `fetch` quotes URLs in them.
 */
export function describeError(error: unknown): Fields {
  if (!(error instanceof Error)) return { error: typeof error }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const frames = framesOf(error)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
  const cause = error.cause instanceof Error ? error.cause : undefined
  return {
    error: error.name,
    code: code ?? (cause && 'code' in cause ? String(cause.code) : undefined),
    cause: cause?.name,
    at: frames
      .slice(0, 4)
      .map((line) => line.trim())
      .join(' | '),
  }
}

/** The stack begins with the message, whose lines may look like frames. */
function framesOf({ stack = '', message }: Error): string {
  const start = stack.indexOf(message)
  return start < 0 ? '' : stack.slice(start + message.length)
}

/** Bytes that reach a pipe in one piece (PIPE_BUF). Workers share a pipe and must not split each other's lines. */
const WHOLE_BYTES = 4096

let waiting: string[] = []

/** Milliseconds for which lines are collected, since a write per line costs too much. */
const COLLECT_MS = 10

function writeError(line: string): void {
  if (waiting.length === 0) setTimeout(flush, COLLECT_MS)
  waiting.push(line)
}

function flush(): void {
  const lines = waiting
  waiting = []
  let [text, size] = ['', 0]
  for (const line of lines) {
    const length = Buffer.byteLength(line)
    if (size > 0 && size + length > WHOLE_BYTES) {
      process.stderr.write(text)
      text = ''
      size = 0
    }
    text += line
    size += length
  }
  if (size > 0) process.stderr.write(text)
}

// Also write lines that were logged just before the end.
process.on('exit', flush)
