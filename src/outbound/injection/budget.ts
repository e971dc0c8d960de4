/**
 * Limits of one call (protocol 6.2). Names and placeholders are counted before lookups, and bytes before insertion, so
 * that a small request cannot cause a large one or much work.
 */
import { Fault } from '../../core/fault.ts'
import type { Secret } from '../../core/secret.ts'

const KIB = 1024
export const MAX_NAMES = 16
export const MAX_PLACEHOLDERS = 64
/** Texts that look like placeholders and are compared with the allowed ones: about ten milliseconds of work. */
export const MAX_EXAMINED = 16_384
const MAX_FILLED_BYTES = 128 * KIB
const MAX_FILLED_HEADER_BYTES = 64 * KIB

type Use = { name: string; style: string }

/** @throws Fault `validation_error` for more than 64 placeholders, or 16 names */
export function checkCounts(placeholders: readonly Use[]): void {
  if (placeholders.length > MAX_PLACEHOLDERS) throw buildTooManyPlaceholdersFault()
  if (new Set(placeholders.map(({ name }) => name)).size <= MAX_NAMES) return
  throw buildRefusedFault(`A call can use at most ${MAX_NAMES} different secrets.`)
}

export function buildTooManyPlaceholdersFault(): Fault {
  return buildRefusedFault(`A call can have at most ${MAX_PLACEHOLDERS} placeholders.`)
}

export function buildTooManyExaminedFault(limit = MAX_EXAMINED): Fault {
  return buildRefusedFault(
    `A policy allows placeholders there, and more than ${limit} texts look like placeholders. Split the request.`,
  )
}

/** @throws Fault `validation_error` for more than 128 KiB in all, or 64 KiB in headers */
export function checkBytes(
  placeholders: readonly Use[],
  values: ReadonlyMap<string, Secret>,
): void {
  let [all, inHeaders] = [0, 0]
  for (const { name, style } of placeholders) {
    const size = values.get(name)?.reveal().length ?? 0
    all += size
    if (style === 'header' || style === 'basic') inHeaders += size
  }
  if (inHeaders > MAX_FILLED_HEADER_BYTES) {
    throw buildRefusedFault('The secrets in headers exceed 64 KiB in total.')
  }
  if (all > MAX_FILLED_BYTES) {
    throw buildRefusedFault('The secrets of the call exceed 128 KiB in total.')
  }
}

function buildRefusedFault(message: string): Fault {
  return new Fault('validation_error', { message })
}
