/** Paths of policies against paths of calls, as the most lenient of servers may read them. */
import { fromUtf8 } from '../crypto/encoding.ts'
import { PLACEHOLDER_PREFIX } from '../names/secret_name.ts'

const WHITE_OR_CONTROL = /[\p{Cc}\s]/u
const MAX_READINGS = 5
const ESCAPE = /%[0-9A-Fa-f]{2}/
const ESCAPES = /(?:%[0-9A-Fa-f]{2})+/g
const MALFORMED_ESCAPE = /%(?![0-9A-Fa-f]{2})/

/**
 * Whether a policy's `allowed_paths` prefix covers the normalised path of a target. Prefixes end on
 * segment borders: `/v1` covers `/v1` and `/v1/x` but not `/v10`; `/v1/` covers only what is below.
 *
 * Servers disagree about `%2F`, `%2e`, `%252e`, `;` and backslashes, so a path is read as it
 * is there, percent-decoded once, and again while anything is left to decode: the prefix, read alike,
 * must cover every reading. A path is ambiguous, and matches no prefix at all, when a reading has a
 * dot segment (also `..;x`, or one made by Unicode compatibility forms), a control character, a
 * malformed escape or bytes that are not UTF-8. So is a prefix that is not a plain absolute path.
 */
export function policyPathMatches(prefix: string, path: string): boolean {
  const wanted = normalizePath(prefix)
  if (wanted === null || MALFORMED_ESCAPE.test(path)) return false
  return coversEveryReading(wanted, path, MAX_READINGS)
}

/**
 * Whether a placeholder's value could join with the text before it: with the beginning of an escape, or with the dots
 * of a segment. The result would reveal how the value begins.
 */
export function hasOpenPlaceholder(path: string): boolean {
  return path
    .split(PLACEHOLDER_PREFIX)
    .slice(0, -1)
    .some((_, at, parts) => isOpen(parts.slice(0, at + 1).join(PLACEHOLDER_PREFIX), MAX_READINGS))
}

function isOpen(text: string, readings: number): boolean {
  const [last = ''] = segments(text.normalize('NFKC')).slice(-1)
  if (/%[0-9A-Fa-f]?$/.test(text) || /^\s*\.+\s*$/.test(last)) return true
  const next = decodeOnce(text)
  return next !== text && (next === null || readings === 0 || isOpen(next, readings - 1))
}

function normalizePath(prefix: string): string | null {
  if (!prefix.startsWith('/') || /[?#\\]/.test(prefix) || WHITE_OR_CONTROL.test(prefix)) return null
  if (MALFORMED_ESCAPE.test(prefix)) return null
  const url = URL.parse(`https://host${prefix}`)
  return url === null ? null : url.pathname
}

function coversEveryReading(prefix: string, path: string, readings: number): boolean {
  if (readings === 0 || isAmbiguous(prefix) || isAmbiguous(path)) return false
  if (!coversSegments(segments(prefix), segments(path))) return false
  const [nextPrefix, nextPath] = [decodeOnce(prefix), decodeOnce(path)]
  if (nextPrefix === null || nextPath === null) return false
  if (nextPrefix === prefix && nextPath === path) return true
  return coversEveryReading(nextPrefix, nextPath, readings - 1)
}

/** Returns segments. Converts backslashes and compatibility forms as lenient servers do. */
function segments(path: string): string[] {
  return path.replaceAll('\\', '/').slice(1).split('/')
}

function isAmbiguous(path: string): boolean {
  if (/\p{Cc}/u.test(path)) return true
  return segments(path.normalize('NFKC')).some((segment) => {
    const bare = segment.replace(/;.*$/s, '').trim()
    return bare === '.' || bare === '..'
  })
}

function coversSegments(prefix: string[], path: string[]): boolean {
  const onlyBelow = prefix.at(-1) === ''
  const wanted = onlyBelow ? prefix.slice(0, -1) : prefix
  if (onlyBelow && path.length <= wanted.length) return false
  return wanted.every((segment, index) => path[index] === segment)
}

/** Decodes one round of percent-encoding; null if the path has a broken escape or bytes beyond UTF-8. */
function decodeOnce(path: string): string | null {
  if (!ESCAPE.test(path)) return path
  let isText = true
  const decoded = path.replace(ESCAPES, (run) => {
    const text = fromUtf8(Uint8Array.fromHex(run.replaceAll('%', '')))
    isText &&= text !== null
    return text ?? ''
  })
  return isText ? decoded : null
}
