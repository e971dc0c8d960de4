/**
 * The fallback of `run`: the last delivery, sealed in a file, for when the server is unavailable. A server that
 * refuses is available: revoked values are never used from the file.
 */
import { dirname } from 'node:path'
import {
  type Kept,
  openFallback,
  sealFallback,
  WrongFallback,
} from '../../client/delivery/fallback.ts'
import { LateAnswer } from '../../client/http/answer.ts'
import { ApiError } from '../../client/http/api.ts'
import { withTimeout } from '../../core/async/timeout.ts'
import { demandInside, readNamedFile } from '../files/read.ts'
import { demandReplaceable, replaceFile } from '../files/replace.ts'
import { type Host, pathFrom } from '../host.ts'
import { CliError } from '../terminal/cli_error.ts'
import { explain } from '../terminal/explain.ts'
import { formatRelativeTime } from '../terminal/moments.ts'
import type { Delivered, Source } from '../values/delivered.ts'

/** Milliseconds until a silent server counts as unavailable if there is a fallback. */
const PATIENCE_MS = 10_000
/** Milliseconds that clocks may differ by. */
const SKEW_MS = 300_000

export type FallbackOptions = {
  host: Host
  path: string
  maxAgeMs: number
  /** Whether values of the person's own may be among them. */
  mine: boolean
  warn(text: string): void
  now(): Date
}

/** The source, with a file behind it. @throws CliError for a file that is not the fallback of this caller, here */
export function withFallback(source: Source, options: FallbackOptions): Source {
  const { host, path, now, warn } = options
  const { holder, asked } = source
  const { seen } = read(source, options) ?? {}
  if (seen) source.seen?.demand(seen)
  const keep = (values: Delivered) => {
    const kept = { values, fetchedAt: now(), seen: source.seen?.last() }
    try {
      replaceFile(path, sealFallback(holder, asked, kept), 'secret', pathFrom(host, path))
    } catch (error) {
      warn(`the fallback was not written: ${explain(error).message}`)
    }
  }
  return {
    ...source,
    deliver: async () => {
      const { server } = asked
      const buildLateAnswer = () =>
        new LateAnswer(server, `did not respond within ${PATIENCE_MS / 1_000} seconds`)
      try {
        const values = await withTimeout(PATIENCE_MS, source.deliver(), buildLateAnswer)
        keep(values)
        return values
      } catch (error) {
        if (!isAway(error)) throw error
        return recall(source, options, error)
      }
    },
  }
}

/** `null` if it does not exist yet. @throws CliError */
function read(
  { holder, asked }: Source,
  { host, path }: Pick<FallbackOptions, 'host' | 'path'>,
): Kept | null {
  const size = demandReplaceable(path, pathFrom(host, path))
  demandInside(host, dirname(path))
  if (size === null) return null
  try {
    return openFallback(holder, asked, readNamedFile(host, path).toString('utf8'))
  } catch (error) {
    if (!(error instanceof WrongFallback)) throw error
    throw new CliError(
      'wrong_fallback',
      `${path} ${error.message}; nothing was run`,
      'use another file with --fallback, or remove this one',
    )
  }
}

/** @throws CliError for a fallback that is too old; the server error without a fallback */
function recall(source: Source, options: FallbackOptions, error: unknown): Delivered {
  const { path, maxAgeMs, warn, now } = options
  const kept = read(source, options)
  const { message } = explain(error)
  if (kept === null) throw new CliError('unreachable', `${message}, and ${path} does not exist yet`)
  const { fetchedAt, values } = kept
  const ageMs = now().getTime() - fetchedAt.getTime()
  const age = `${formatRelativeTime(fetchedAt, now())} (${fetchedAt.toISOString()})`
  if (ageMs > maxAgeMs || ageMs < -SKEW_MS) {
    throw new CliError(
      'old_fallback',
      `${message}, and ${path} was fetched ${age}`,
      'raise --fallback-max-age to accept it, and check the system clock',
    )
  }
  const own = Object.keys(values).filter((name) => values[name]?.isOwn)
  if (own.length > 0 && !options.mine) {
    throw new CliError('wrong_fallback', `${message}, and ${path} has values of your own: ${own}`)
  }
  const also = own.length > 0 ? `, with values of your own: ${own.join(', ')}` : ''
  warn(`WARNING: ${message}: using ${path}, fetched ${age}${also}`)
  return values
}

/** Network, time and 5xx: not a refusal, nor a certificate or an answer that is not to be trusted. */
function isAway(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500
  return error instanceof LateAnswer || explain(error).code === 'unreachable'
}
