/**
 * `run --watch`: the command is started again when a value changed that it was given, and for no other
 * reason. If the server is unavailable or refuses, the command keeps running with its current values.
 */
import { endsWithin } from '../../core/async/timeout.ts'
import { endGroup, type Running } from '../terminal/child.ts'
import { explain } from '../terminal/explain.ts'
import type { Delivered, Source } from '../values/delivered.ts'

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
/** Milliseconds between the looks after a change: several changes are one restart. */
const STEADY_MS = 1_000
const MAX_LOOKS = 30
const MAX_WAIT_MS = 300_000
/** Milliseconds to wait for the last output, in case a detached process keeps it open. */
const LAST_OUTPUT_MS = 1_000

export type Watch = {
  source: Source
  first: Delivered
  intervalMs: number
  graceMs: number
  /** @throws CliError for values that no program must be started with */
  start(values: Delivered): Running
  /** Also called before the running command is ended. */
  check(values: Delivered): void
  warn(text: string): void
}

/** Returns the exit code of the command that ended by itself, or by a signal to us. @throws CliError as `start` */
export async function runWatched(watch: Watch): Promise<number> {
  const { graceMs, start, warn } = watch
  const ending = listenForEnd()
  const changes = openChanges(watch)
  let running = start(watch.first)
  try {
    for (;;) {
      const change = await Promise.race([running.ended, changes.next()])
      const ended = await Promise.race([running.ended, null])
      if (typeof change === 'number' || ended !== null) return running.ended
      warn(`${change.names.join(', ')} changed: restarting the command`)
      await endGroup(running.pid, graceMs)
      await endsWithin(LAST_OUTPUT_MS, running.ended)
      if (ending.isWanted()) return running.ended
      running = start(change.values)
    }
  } finally {
    changes.close()
    ending.close()
  }
}

/** A signal that ends this process ends the command, even during its restart. */
function listenForEnd() {
  let isWanted = false
  const want = () => {
    isWanted = true
  }
  for (const signal of ENDING) process.on(signal, want)
  return {
    isWanted: () => isWanted,
    close: () => {
      for (const signal of ENDING) process.off(signal, want)
    },
  }
}

type Change = { values: Delivered; names: string[] }

function openChanges({ source, first, intervalMs, check, warn }: Watch) {
  const news = openNews(warn)
  let isOpen = true
  let known = first
  let seen: string | null = null
  /** The environment, if it is another. The first look fetches it: it may have changed since the start. */
  const look = async (): Promise<Change | null> => {
    const version = await source.version()
    if (version === seen) return null
    const steady = await steadyVersion(source, version)
    const values = await source.deliver()
    seen = steady
    const names = listChangedNames(known, values)
    const against = names.length === 0 ? null : refusalBy(() => check(values))
    if (against !== null)
      warn(`${names.join(', ')} changed; the command continues unchanged: ${against}`)
    if (names.length === 0 || against !== null) return null
    known = values
    return { values, names }
  }
  const waitForChange = async (): Promise<Change> => {
    for (let failures = 0; isOpen; ) {
      await Bun.sleep(waitMs(intervalMs, failures, Math.random()))
      try {
        const change = isOpen ? await look() : null
        failures = 0
        news.good()
        if (change !== null) return change
      } catch (error) {
        failures += 1
        news.bad(explain(error).message)
      }
    }
    return new Promise(() => {})
  }
  return {
    next: waitForChange,
    close: () => {
      isOpen = false
    },
  }
}

/** The version after which nothing changes for a moment. */
async function steadyVersion(source: Source, first: string): Promise<string> {
  let version = first
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    await Bun.sleep(STEADY_MS)
    const latest = await source.version()
    if (latest === version) break
    version = latest
  }
  return version
}

/** Reports a problem once, and its end. */
function openNews(warn: (text: string) => void) {
  let last: string | null = null
  return {
    bad: (message: string) => {
      if (message !== last) warn(`${message}: the command continues with its current values`)
      last = message
    },
    good: () => {
      if (last !== null) warn('checking for changes again')
      last = null
    },
  }
}

function refusalBy(check: () => void): string | null {
  try {
    check()
    return null
  } catch (error) {
    return explain(error).message.replaceAll('\n', '; ')
  }
}

/** Names that are new, gone, or of another value. */
export function listChangedNames(before: Delivered, after: Delivered): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => before[name]?.value !== after[name]?.value).sort()
}

/** Milliseconds until the next look: twice as long after each failure in a row, and never all at the same time. */
export function waitMs(intervalMs: number, failures: number, random: number): number {
  const longest = Math.max(intervalMs, MAX_WAIT_MS)
  return Math.min(intervalMs * 2 ** failures, longest) * (0.75 + random / 2)
}
