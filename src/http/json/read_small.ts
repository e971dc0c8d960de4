/**
 * Small JSON bodies by the runtime's parser, which is ten times as fast as our reader, but silently drops repeated
 * keys. What it gives is taken only where it is certain that the reader would give the same: everything within the
 * bounds, and as many names in the value as in the text. All else is left to the reader, which says what is wrong.
 */
import { fromUtf8 } from '../../core/crypto/encoding.ts'
import type { Bounds, ListBounds, ObjectBounds } from './bounds.ts'
import { MAX_JSON_DEPTH, POISONED_KEYS } from './containers.ts'
import { MAX_NUMBER } from './tokens.ts'

/** Bytes of a body that is read and validated in one go: the worst takes about a millisecond. */
export const SMALL_BODY = 8192
const QUOTE = 34
const BACKSLASH = 92
const LONG_NUMBER = new RegExp(`[-+.\\deE]{${MAX_NUMBER + 1}}`)

/** The value, or `undefined` where only the reader can tell. */
export function readSmall(bytes: Uint8Array, bounds: Bounds): unknown {
  const text = bytes.length <= SMALL_BODY ? fromUtf8(bytes) : null
  if (text === null) return undefined
  if (text.length > MAX_NUMBER && LONG_NUMBER.test(text)) return undefined
  const value = parseJson(text)
  return namesIn(value, bounds, 1) === namesWritten(text) ? value : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The number of names in the objects of a value; NaN for a value outside of the bounds. */
function namesIn(value: unknown, bounds: Bounds, depth: number): number {
  if (typeof value !== 'object' || value === null) return isFit(value, bounds) ? 0 : NaN
  if (depth > MAX_JSON_DEPTH) return NaN
  const { list, object } = bounds
  if (Array.isArray(value)) return list ? namesInList(value, list, depth) : NaN
  return object ? namesInObject(value, object, depth) : NaN
}

function isFit(value: unknown, bounds: Bounds): boolean {
  if (typeof value === 'string') return value.length <= (bounds.text?.maxLength ?? -1)
  return value === null ? bounds.null : bounds[typeof value as 'number' | 'boolean']
}

function namesInList(list: unknown[], { maxItems, items }: ListBounds, depth: number): number {
  if (list.length > maxItems) return NaN
  let names = 0
  for (const item of list) names += namesIn(item, items, depth + 1)
  return names
}

function namesInObject(
  object: object,
  { maxProperties, properties, required, others }: ObjectBounds,
  depth: number,
): number {
  let [own, names] = [0, 0]
  for (const name in object) {
    const inner = properties.get(name) ?? others
    if (typeof inner === 'string' || POISONED_KEYS.has(name)) return NaN
    own += 1
    names += 1 + namesIn(object[name as never], inner, depth + 1)
  }
  if (own > maxProperties) return NaN
  for (const name of required) if (!Object.hasOwn(object, name)) return NaN
  return names
}

/** How many quotes are followed by a colon: each name has one, and a text that begins with a colon, too. */
function namesWritten(text: string): number {
  let count = 0
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1)) {
    let quote = colon - 1
    while (isSpace(text.charCodeAt(quote))) quote -= 1
    if (text.charCodeAt(quote) !== QUOTE) continue
    let before = quote - 1
    while (text.charCodeAt(before) === BACKSLASH) before -= 1
    // Behind an odd number of backslashes it is part of a text.
    if ((quote - before) % 2 === 1) count += 1
  }
  return count
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}
