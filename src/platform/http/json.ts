/**
 * The JSON guard in front of every parser (docs/protocol.md, "HTTP conventions"). It bounds the
 * nesting before `JSON.parse` sees the text, and refuses what parsers disagree about: duplicate
 * keys, invalid UTF-8, a byte order mark, and the keys that reach into prototypes.
 */
import { fromUtf8 } from '../crypto/encoding.ts'
import { Fault } from '../fault.ts'

const MAX_DEPTH = 32
const POISONED_KEYS = new Set(['__proto__', 'constructor'])
const QUOTE = 34
const BACKSLASH = 92
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/**
 * Parses a UTF-8 JSON text (RFC 8259).
 *
 * @throws Fault `malformed_json`
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = fromUtf8(bytes)
  if (text === null) {
    throw new Fault('malformed_json', { message: 'The request body is not valid UTF-8.' })
  }
  checkStructure(text)
  try {
    return JSON.parse(text)
  } catch {
    throw new Fault('malformed_json')
  }
}

/**
 * Walks the text once. It need not prove that the text is JSON, only that nothing hides in it:
 * `JSON.parse` follows and refuses the rest.
 */
function checkStructure(text: string): void {
  const open: (Set<string> | null)[] = []
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = passString(text, at, open.at(-1))
    else if (code === OPEN_OBJECT) enter(open, new Set())
    else if (code === OPEN_ARRAY) enter(open, null)
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) open.pop()
  }
}

/** Notes the string if it is a key; returns the index of its closing quote. */
function passString(text: string, start: number, keys: Set<string> | null | undefined): number {
  const end = endOfString(text, start)
  if (keys && isKey(text, end)) addKey(keys, text.slice(start, end))
  return end - 1
}

function enter(open: (Set<string> | null)[], keys: Set<string> | null): void {
  if (open.length >= MAX_DEPTH) {
    throw new Fault('malformed_json', {
      message: `The request body is nested deeper than ${MAX_DEPTH}.`,
    })
  }
  open.push(keys)
}

/** The index after the closing quote; the text's length if there is none. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (true) {
    const quote = text.indexOf('"', at)
    if (quote < 0) return text.length
    let slashes = 0
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return quote + 1
    at = quote + 1
  }
}

function isKey(text: string, end: number): boolean {
  let at = end
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1
  return text.charAt(at) === ':'
}

function addKey(keys: Set<string>, quoted: string): void {
  const key = unquote(quoted)
  if (keys.has(key))
    throw new Fault('malformed_json', { message: 'The request body has a duplicate key.' })
  if (POISONED_KEYS.has(key))
    throw new Fault('malformed_json', { message: 'The request body has a forbidden key.' })
  keys.add(key)
}

function unquote(quoted: string): string {
  try {
    return JSON.parse(quoted)
  } catch {
    throw new Fault('malformed_json')
  }
}
