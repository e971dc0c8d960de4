/**
 * Masks values in a command's output with the leak guard, in time independent of their number. It helps against a
 * careless `env`, but is no security boundary: the command has the values.
 */

import { type PendingTimer, systemTimers, type Timers } from '../../core/async/timers.ts'
import { type CallGuard, prepareGuard } from '../../leak_guard/index.ts'

export type Values = Readonly<Record<string, string>>
type Write = (text: Uint8Array) => void

/** The filter of one output of the command. */
export type Mask = {
  /** The chunk may be reused afterwards. */
  write(chunk: Uint8Array): void
  /** The rest. */
  end(): void
}

const MARKER = '[REDACTED]'
/** JSON keywords are not secret, and masking them would make output unreadable. */
const JSON_WORDS = new Set(['true', 'false', 'null'])
/**
 * Milliseconds of silence. The last characters are held back for possible matches, but prompts and typed text must
 * appear.
 */
const SILENCE_MS = 30
/** The wait if the last characters are the beginning of a value. */
const LONG_SILENCE_MS = 1_000
/** Characters of a beginning that are no accident, and how many of them are looked at. */
const MIN_BEGINNING = 4
const MAX_BEGINNING = 1_024

/** Prepares masking once, for all outputs of the command. `onMasked` is called when the first value is masked. */
export function prepareMask(
  values: Values,
  timers: Timers = systemTimers,
  onMasked: () => void = () => {},
): (write: Write) => Mask {
  const named = Object.entries(values).flatMap(([name, value]) =>
    JSON_WORDS.has(value) ? [] : [{ name, bytes: new Uint8Array(Buffer.from(value)) }],
  )
  const guard = prepareGuard(named).forCall({ used: named, marker: MARKER })
  const texts = named.map(({ bytes }) => Buffer.from(bytes))
  const isBeginning = (text: Buffer) => endsInBeginning(text, texts)
  let isReported = false
  const tell = () => {
    if (!isReported) onMasked()
    isReported = true
  }
  return (write) => openMask({ guard, isBeginning, timers, tell }, write)
}

type Parts = {
  guard: CallGuard
  isBeginning: (text: Buffer) => boolean
  timers: Timers
  tell: () => void
}

function openMask({ guard, isBeginning, timers, tell }: Parts, write: Write): Mask {
  let stream = guard.stream()
  let recent = Buffer.alloc(0)
  /** Received and written bytes since the stream was opened; equal if nothing is held back. */
  let held = 0
  let timer: PendingTimer | undefined
  const give = (text: Uint8Array) => {
    held -= text.length
    if (text.length > 0) write(text)
    if (stream.isRedacted) tell()
  }
  const release = () => {
    give(stream.flush())
    stream = guard.stream()
    held = 0
  }
  const wait = () => {
    if (isBeginning(recent)) timer = timers.setTimer(LONG_SILENCE_MS - SILENCE_MS, release)
    else release()
  }
  return {
    write: (chunk) => {
      timer?.cancel()
      held += chunk.length
      give(stream.push(chunk))
      recent = Buffer.concat([recent, chunk]).subarray(-MAX_BEGINNING)
      if (held !== 0 || stream.isRedacted) timer = timers.setTimer(SILENCE_MS, wait)
    },
    end: () => {
      timer?.cancel()
      give(stream.flush())
    },
  }
}

/** Whether a value may be under way: looked at in silence only, since it takes time for each value. */
function endsInBeginning(text: Buffer, values: readonly Buffer[]): boolean {
  return values.some((value) => {
    const longest = Math.min(value.length - 1, text.length)
    for (let length = longest; length >= MIN_BEGINNING; length -= 1) {
      if (text.subarray(text.length - length).equals(value.subarray(0, length))) return true
    }
    return false
  })
}
