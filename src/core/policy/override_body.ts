/**
 * Methods with which a body overrides the request's: many frameworks read a field `_method` of forms, and some a member
 * of JSON. Names are read as the most lenient framework reads them.
 */
import { isOverrideName, methodsAskedFor } from './override.ts'
import { type AskedMethods, methodsInParts } from './override_parts.ts'

/** Bytes of a form that is read: no more could be read without a pause. */
const MAX_FORM_BYTES = 1_048_576
/** After a byte order mark. */
const OBJECT = /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*\{/
const OPENS = new Set('{[')
const CLOSES = new Set('}]')
const TOKENS = new Set('{[",')

export type BodyKind = 'form' | 'multipart' | 'json'

const ALL_KINDS: readonly BodyKind[] = ['form', 'multipart', 'json']
const TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/
/** Matches a field's name that may override the method, plain or escaped: `%6dethod=`, `_method[]=`. */
const FIELD = new RegExp(
  `${[...'method'].map((letter) => `(?:${letter}|${escapesOf(letter)})`).join('')}[^&;=]{0,64}=`,
  'i',
)

/** Returns how servers may parse a body of this type, if its fields or members can override the method; else empty. */
export function overridableKinds(contentType: string | undefined): readonly BodyKind[] {
  if (isTypeOpen(contentType)) return ALL_KINDS
  const type = typeOf(contentType)
  const kinds: BodyKind[] = isJson(contentType) ? ['json'] : []
  if (type === 'application/x-www-form-urlencoded') kinds.push('form')
  if (type.startsWith('multipart/')) kinds.push('multipart')
  return kinds
}

/** JSON in lines is sent while its answers arrive, so it streams; a policy that limits methods refuses it unread. */
const LINES = /^(application|text)\/(x-)?(nd-?json|jsonl|jsonlines|json-?lines)$/

/** Whether a body of such a type is read whole, so that policies can be checked against overrides and operations in it. */
export function isReadForPolicies(contentType: string | undefined): boolean {
  const type = typeOf(contentType)
  if (type === 'application/graphql') return true
  return overridableKinds(contentType).length > 0 && !LINES.test(type)
}

/** Frameworks look for the word in the type, and some in its parameters. */
function isJson(contentType = ''): boolean {
  return /json/i.test(contentType)
}

/** Whether a body's type leaves its format open: servers read such a body as a form or as JSON by their own choice. */
export function isTypeOpen(contentType: string | undefined): boolean {
  const type = typeOf(contentType)
  return type === 'text/plain' || !TYPE.test(type)
}

function typeOf(contentType: string | undefined): string {
  return contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
}

function escapesOf(letter: string): string {
  return [letter, letter.toUpperCase()]
    .map((each) => `%${each.charCodeAt(0).toString(16)}`)
    .join('|')
}

/** In upper case, or why the body cannot be read. */
export function methodsAskedForIn(
  contentType: string | undefined,
  bytes: Uint8Array,
): AskedMethods {
  const kinds = overridableKinds(contentType)
  const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  // Without zeros UTF-16 reads like ASCII. In a multipart body, which is ASCII, a zero may end a name.
  const text = (given.includes(0) ? given.filter((byte) => byte !== 0) : given).toString('latin1')
  const isGuess = !isJson(contentType)
  const methods: string[] = []
  for (const kind of kinds) {
    // JSON without a JSON content type begins as an object. Text that quotes JSON does not.
    if (kind === 'json' && isGuess && !OBJECT.test(text)) continue
    const asked = READERS[kind](text, contentType ?? '', given)
    if ('unread' in asked) return asked
    methods.push(...asked)
  }
  return methods
}

type Reader = (text: string, contentType: string, given: Buffer) => AskedMethods

const READERS: Record<BodyKind, Reader> = {
  form: (text) => {
    if (!FIELD.test(text)) return []
    if (text.length > MAX_FORM_BYTES) return { unread: 'it is a form of more than 1 MiB' }
    return methodsAskedFor(`?${text.trim()}`)
  },
  multipart: (_, contentType, given) => methodsInParts(given.toString('latin1'), contentType),
  json: (text, contentType) => {
    if (/json5|jsonc|hjson/i.test(contentType) && /ethod|\\/i.test(text) && !isStrictJson(text)) {
      return { unread: 'send it as JSON without comments, and with double quotes around names' }
    }
    return /ethod|\\u00/i.test(text) ? methodsInJson(text) : []
  },
}

/** Returns methods in the outermost object's members, also from a duplicate member. */
function methodsInJson(text: string): string[] {
  const methods: string[] = []
  let name: string | null = null
  for (const token of iterateOutermostTokens(text)) {
    if (token === ',') name = null
    else if (name === null) name = readString(token)
    else if (isOverrideName(name)) methods.push(readString(token).trim().toUpperCase())
  }
  return methods.filter((method) => method !== '')
}

/** The strings with their quotes, and the commas, of the outermost object. A comma begins each of several objects. */
function* iterateOutermostTokens(text: string): Generator<string> {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at)
    const end = character === '"' ? endOfString(text, at) : at
    depth += stepOf(character)
    if (depth === 1 && TOKENS.has(character))
      yield OPENS.has(character) ? ',' : text.slice(at, end + 1)
    at = end
  }
}

/** Returns the change of depth at a character. */
function stepOf(character: string): number {
  if (OPENS.has(character)) return 1
  return CLOSES.has(character) ? -1 : 0
}

/** Index of the quote that ends the string. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charAt(end - 1 - escapes) === '\\') escapes += 1
    if (escapes % 2 === 0) return end
  }
  return text.length
}

function isStrictJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function readString(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1)
  }
}
