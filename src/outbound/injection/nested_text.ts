/**
 * Finds the nesting of a placeholder's text: JSON in a string of JSON, a form in JSON, JSON in a field of a form or
 * query, in any mixture. A value is escaped once for each of them, or is refused if the nesting is unclear.
 */
import { buildUnusableFault } from './unusable.ts'

export type Syntax = 'json' | 'form'

/** The inside of one JSON string, or one field of a form, with nothing nested in it. */
export type Innermost = {
  syntax: Syntax
  /** As written. */
  raw: string
  /** Decoded. */
  read: string
}

export type NestedChange = {
  /** Quick check whether anything in the text may change. */
  isSought(text: string): boolean
  /** The raw text with its changes. */
  change(innermost: Innermost): string
}

const MAX_DEPTH = 8
/** At least two fields, and no character that a form would have escaped. */
const FORM =
  /^[A-Za-z0-9\-._~*+%[\]]+=[A-Za-z0-9\-._~*+%]*(?:&[A-Za-z0-9\-._~*+%[\]]+=[A-Za-z0-9\-._~*+%]*)+$/
const MALFORMED_ESCAPE = /%(?![0-9A-Fa-f]{2})/

/**
 * Returns the text with each innermost text changed; unchanged parts stay byte for byte.
 *
 * @throws Fault `unusable_secret` for texts nested deeper than 8
 */
export function changeNested(
  syntax: Syntax,
  text: string,
  change: NestedChange,
  depth = 1,
): string {
  if (!change.isSought(text)) return text
  if (depth > MAX_DEPTH) {
    throw buildUnusableFault(
      `A placeholder is nested more than ${MAX_DEPTH} levels deep. Use fewer levels.`,
    )
  }
  return syntax === 'json' ? changeJson(text, change, depth) : changeForm(text, change, depth)
}

function changeJson(text: string, change: NestedChange, depth: number): string {
  const out: string[] = []
  let from = 0
  for (let start = text.indexOf('"'); start >= 0; start = text.indexOf('"', from)) {
    const end = endOfString(text, start)
    out.push(text.slice(from, start + 1), changeString(text.slice(start + 1, end), change, depth))
    from = end
    if (text[from] !== '"') break
    out.push('"')
    from += 1
  }
  out.push(text.slice(from))
  return out.join('')
}

/** Returns the position of the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '"') return at
    if (text[at] === '\\') at += 1
  }
  return text.length
}

function changeString(raw: string, change: NestedChange, depth: number): string {
  if (!change.isSought(raw)) return raw
  const read = JSON.parse(`"${raw}"`) as string
  const syntax = syntaxOf(read)
  if (syntax === null) return change.change({ syntax: 'json', raw, read })
  const changed = changeNested(syntax, read, change, depth + 1)
  return changed === read ? raw : JSON.stringify(changed).slice(1, -1)
}

function changeForm(text: string, change: NestedChange, depth: number): string {
  const replaceRaw = (raw: string) => (change.isSought(raw) ? changeField(raw, change, depth) : raw)
  return text.replace(
    /(^\??|&)([^&=]*)(=?)([^&]*)/g,
    (_, before: string, name: string, equals: string, value: string) =>
      `${before}${replaceRaw(name)}${equals}${replaceRaw(value)}`,
  )
}

function changeField(raw: string, change: NestedChange, depth: number): string {
  const read = readField(raw)
  const syntax = read === null ? null : syntaxOf(read)
  if (read === null || syntax === null) {
    return change.change({ syntax: 'form', raw, read: read ?? raw })
  }
  const changed = changeNested(syntax, read, change, depth + 1)
  return changed === read ? raw : encodeURIComponent(changed)
}

/** Decodes a field; `null` if it is not percent-encoded UTF-8. */
function readField(raw: string): string | null {
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '))
  } catch {
    return null
  }
}

/** Returns the syntax of a text, or `null` for plain text. */
function syntaxOf(text: string): Syntax | null {
  if (/^\s*["[{]/.test(text) && isJson(text)) return 'json'
  return FORM.test(text) && !MALFORMED_ESCAPE.test(text) ? 'form' : null
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * Returns which of some ordered positions are inside double quotes. A reader of an unknown syntax has unknown escapes
 * there: part of a JSON text, JSON after other words, a script.
 */
export function findQuoted(text: string, positions: readonly number[]): boolean[] {
  let [at, isInside] = [0, false]
  return positions.map((position) => {
    for (; at < position; at += 1) {
      if (text[at] === '"') isInside = !isInside
      else if (text[at] === '\\') at += 1
    }
    return isInside
  })
}
