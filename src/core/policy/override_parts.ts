/**
 * Methods with which parts of a multipart body override the request's. Servers disagree about folded headers, quoting,
 * escapes and line ends: a part that one server reads as ordinary is a field `_method` to another. So only plain part
 * headers are read, and any other body counts as unread.
 */
import { isOverrideName } from './override.ts'

/** The reason continues after "the body of this request may override them: ". */
export type UnreadBody = { unread: string }
export type AskedMethods = readonly string[] | UnreadBody

const MAX_PARTS = 1_000
/** Nesting depth of multipart bodies. */
const MAX_DEPTH = 4
/** Only these headers name a field; `Content-ID` does so in Rack. */
const NAMING = /content-(disposition|id)/i
const HEADER = /^([!#$%&'*+.^_`|~0-9a-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/i
const DISPOSITION =
  /^[a-z-]+(?:[ \t]*;[ \t]*(?:[a-z-]+="[^"\\]*"|(?!name=)[a-z-]+=[^\s"'\\;,=*]+))*;?[ \t]*$/i
const NAMES = /[; \t]name="([^"]*)"/gi
/** Java servers decode encoded words (RFC 2047) in names. */
const ENCODED_WORD = '=?'

const NOT_PLAIN: UnreadBody = {
  unread:
    'send a multipart body with one plain boundary, CRLF line ends, one line for each part header and names in double quotes without escapes',
}
const TOO_MANY: UnreadBody = {
  unread: `it has more than ${MAX_PARTS.toLocaleString('en-US')} parts`,
}

/**
 * @param contentType of the body; without `multipart` in it, a body's first line is its delimiter, if any is
 * @returns methods in upper case
 */
export function methodsInParts(text: string, contentType: string, depth = 0): AskedMethods {
  if (!NAMING.test(text)) return []
  const isMultipart = /multipart/i.test(contentType)
  const boundary = isMultipart
    ? boundaryIn(contentType)
    : (/^\s*--([^\r\n]+)[\r\n]/.exec(text)?.[1] ?? null)
  if (boundary === null) return isMultipart ? NOT_PLAIN : []
  const [preamble = '', ...pieces] = text.split(`--${boundary}`)
  const end = pieces.pop()
  if (pieces.length > MAX_PARTS) return TOO_MANY
  if (!/^(.*\r\n)?$/s.test(preamble) || end === undefined || !/^--\s*$/.test(end)) return NOT_PLAIN
  const methods: string[] = []
  for (const piece of pieces) {
    const asked = methodsInPart(piece, depth)
    if ('unread' in asked) return asked
    methods.push(...asked)
  }
  return methods
}

/** Returns the boundary of a content type with exactly one that all servers read alike; else `null`. */
function boundaryIn(contentType: string): string | null {
  if (!/^\s*multipart\/[a-z0-9.+-]+\s*;/i.test(contentType)) return null
  if (contentType.match(/boundary/gi)?.length !== 1) return null
  const [, quoted, plain] =
    /;\s*boundary=(?:"([^"\\]+)"|([^\s;",\\]+))\s*(?:;|$)/i.exec(contentType) ?? []
  return quoted ?? plain ?? null
}

/** @param piece the text between two delimiters */
function methodsInPart(piece: string, depth: number): AskedMethods {
  const start = piece.indexOf('\r\n\r\n')
  if (!piece.startsWith('\r\n') || !piece.endsWith('\r\n') || start < 0) return NOT_PLAIN
  const value = piece.slice(start + 4).trim()
  const lines = start === 0 ? [] : piece.slice(2, start).split('\r\n')
  const methods: string[] = []
  for (const line of lines) {
    const [header, name = '', text = ''] = HEADER.exec(line) ?? []
    if (header === undefined) return NOT_PLAIN
    const asked = readMethodsFromHeader(name.toLowerCase(), text, value, depth)
    if ('unread' in asked) return asked
    methods.push(...asked)
  }
  return methods
}

function readMethodsFromHeader(
  name: string,
  text: string,
  value: string,
  depth: number,
): AskedMethods {
  if (name === 'content-type' && /multipart/i.test(text)) {
    return depth < MAX_DEPTH ? methodsInParts(value, text, depth + 1) : NOT_PLAIN
  }
  if (name === 'content-disposition' && !DISPOSITION.test(text)) return NOT_PLAIN
  const names = fieldsNamed(name, text)
  if (names.some((each) => each.includes(ENCODED_WORD))) return NOT_PLAIN
  // A longer one is no allowed method either.
  return value !== '' && names.some(isOverrideName) ? [value.slice(0, 64).toUpperCase()] : []
}

function fieldsNamed(header: string, text: string): string[] {
  if (header === 'content-id') return [text.trim().replace(/^<|>$/g, '')]
  if (header !== 'content-disposition') return []
  return [...text.matchAll(NAMES)].map(([, name = '']) => name)
}
