/**
 * Finds placeholders that are written with escapes: `SVC%5FSECRET_KEY` in a URL or form, `SVC\u005fSECRET_KEY` in JSON.
 * No value is put in there, and an API reads the text as a placeholder, so each one is reported as unfilled.
 */
import { PLACEHOLDER_PREFIX, SECRET_NAME } from '../core/names/secret_name.ts'
import type { Unfilled } from '../core/policy/unfilled.ts'
import { MAX_EXAMINED, MAX_PLACEHOLDERS } from './injection/budget.ts'
import { styleOfBody } from './injection/locations.ts'
import type { Target } from './target.ts'

/** A percent sign that is escaped again, and a backslash in JSON in JSON. Bounded, so that a search stays linear. */
const PERCENT = '%(?:25){0,4}'
const BACKSLASH = '\\\\{1,8}u00'
/** The codes of `A-Z`, `a-z`, `0-9` and `_`. */
const NAME_CODE = '(?:3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF])'
const NAME_CHARACTER = `(?:[A-Za-z0-9_]|(?:${PERCENT}|${BACKSLASH})${NAME_CODE})`
const ESCAPED = new RegExp(
  `${[...PLACEHOLDER_PREFIX].map(listWrittenForms).join('')}${NAME_CHARACTER}{1,128}`,
  'g',
)
const ESCAPE = new RegExp(`(?:${PERCENT}|${BACKSLASH})([0-9a-fA-F]{2})`, 'g')
/** Bytes to search, which takes a few milliseconds. */
const MAX_SEARCHED = 1_048_576
const PLACEHOLDER = new RegExp(`^${PLACEHOLDER_PREFIX}(${SECRET_NAME})$`)

function listWrittenForms(character: string): string {
  const code = character.charCodeAt(0).toString(16)
  const either = [...code].map((digit) => `[${digit}${digit.toUpperCase()}]`).join('')
  return `(?:${character}|(?:${PERCENT}|${BACKSLASH})${either})`
}

/** Searches path, query, and a body of JSON or a form; a longer one than 1 MiB only for a strict call. */
export function findEscaped(
  { path, search }: Pick<Target, 'path' | 'search'>,
  body: Uint8Array | null,
  { contentType, isStrict }: { contentType: string | undefined; isStrict: boolean },
): Unfilled[] {
  const isSearched = body !== null && (isStrict || body.length <= MAX_SEARCHED)
  const style = isSearched ? styleOfBody(contentType) : null
  return [
    ...findIn('path', path),
    ...findIn('query', search),
    ...(body && style ? findIn(style, toLatin1(body)) : []),
  ]
}

function findIn(place: Unfilled['place'], text: string): Unfilled[] {
  if (!text.includes('%') && !text.includes('\\u')) return []
  const found: Unfilled[] = []
  for (const [written] of text.matchAll(ESCAPED).take(MAX_EXAMINED)) {
    if (!/[%\\]/.test(written)) continue
    const name = PLACEHOLDER.exec(readEscapes(written))?.[1]
    if (name !== undefined) found.push({ name, place, isEscaped: true })
    if (found.length === MAX_PLACEHOLDERS) break
  }
  return found
}

function readEscapes(written: string): string {
  return written.replace(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function toLatin1({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1')
}
