/** Search orders for an answer and its header names: the prepared values, and those that a call adds. */
import { ALL_KINDS, BACKSLASH, PERCENT, REFERENCE } from './decoding/escapes_read.ts'
import { type Fragments, NO_FRAGMENTS } from './matching/fragments.ts'
import { COPIED_AT_ONCE, MIN_USED, PER_PATTERN } from './matching/guarded.ts'
import type { Patterns } from './matching/patterns.ts'
import { buildPatterns, complete, type Pattern } from './matching/patterns_build.ts'
import type { SearchOrder } from './search.ts'

/** Values of fewer bytes go into a separate table. */
export const SHORT = 8
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** All escapes together; if a value contains escapes itself, also each kind alone. */
const ALL_AT_ONCE = [ALL_KINDS]
const EACH_KIND = [ALL_KINDS, PERCENT, BACKSLASH, REFERENCE]

/** The only data of values kept between calls: fingerprints, lengths and names. */
export type GuardParts = {
  patterns: Patterns
  names: Patterns
  fragments: Fragments
  holdsEscape: boolean
}

export type Orders = { readonly body: SearchOrder; readonly names: SearchOrder }

/** Returns the orders. `added` are the call's values, `holdsEscape` is whether any of them contains an escape. */
export function ordersFor(
  { patterns, names, fragments, ...prepared }: GuardParts,
  added: readonly Pattern[],
  holdsEscape: boolean,
): Orders {
  const isShort = added.some(({ bytes }) => bytes.length < SHORT)
  const kinds = prepared.holdsEscape || holdsEscape ? EACH_KIND : ALL_AT_ONCE
  const orderOf = (known: Patterns, own: readonly Pattern[], isLiteral: boolean) => {
    const window = isShort ? MIN_USED : SHORT
    const lists = own.length === 0 ? [] : [complete(buildPatterns(own, window))]
    if (!known.isEmpty) lists.push(known)
    const shape = { count: lists.length, isShort, isPart: false, kinds, isLiteral }
    return { patterns: lists, fragments: isLiteral ? NO_FRAGMENTS : fragments, shape }
  }
  return {
    body: orderOf(patterns, added, false),
    names: orderOf(names, complete(namePatterns(added)), true),
  }
}

/** Returns the patterns that a header name can contain, in lower case. */
export function* namePatterns(patterns: readonly Pattern[]): Generator<void, Pattern[]> {
  const names = new Map<string, Pattern>()
  let done = 0
  for (const { bytes, label } of patterns) {
    done += PER_PATTERN + bytes.length
    if (done >= COPIED_AT_ONCE) {
      done = 0
      yield
    }
    const text = Buffer.from(bytes).toString('latin1').toLowerCase()
    if (TOKEN.test(text)) names.set(text, { bytes: new Uint8Array(Buffer.from(text)), label })
  }
  return [...names.values()]
}
