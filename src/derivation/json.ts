/** JSON objects of roots and token answers. Rejects what parsers read differently. */
import { fromUtf8 } from '../core/crypto/encoding.ts'

const MAX_DEPTH = 32
/** A string, with the colon behind it if it is a name, or a bracket. Linear on valid JSON only. */
const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g

/**
 * The object, or null for any other value, malformed JSON, invalid UTF-8, a byte order mark, equal names in one
 * object, or more than 32 levels.
 */
export function readJsonObject(bytes: Uint8Array): Record<string, unknown> | null {
  const text = fromUtf8(bytes)
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && isUnambiguous(text) ? value : null
  } catch {
    return null
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @param text valid JSON */
function isUnambiguous(text: string): boolean {
  const open: Set<string>[] = []
  for (const [token, colon] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') open.push(new Set())
    else if (token === '}' || token === ']') open.pop()
    else if (colon !== undefined && !isNewName(open, token.slice(0, -colon.length))) return false
    if (open.length > MAX_DEPTH) return false
  }
  return true
}

function isNewName(open: readonly Set<string>[], quoted: string): boolean {
  const names = open.at(-1)
  const name: string = JSON.parse(quoted)
  if (!names || names.has(name)) return false
  names.add(name)
  return true
}

/** A text or number of an answer as text; empty for anything else, which may not even convert. */
export function scalarText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
