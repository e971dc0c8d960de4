/**
 * Placeholders outside of headers: in the query, in path segments, in JSON and form bodies. They are ordinary text
 * unless the secret's policy lists the location, so a body that only mentions SVC_SECRET_X is not changed.
 */
import { fromUtf8 } from '../../core/crypto/encoding.ts'
import { PLACEHOLDER_PREFIX, SECRET_NAME } from '../../core/names/secret_name.ts'
import { percentEncode } from '../../core/net/percent_encode.ts'
import type { Unfilled } from '../../core/policy/unfilled.ts'
import type { Secret } from '../../core/secret.ts'
import { Hidden } from '../hidden.ts'
import { FORM_TYPE } from '../signing/google_assertion.ts'
import { TICKET_PATTERN } from '../signing/tickets.ts'
import type { Target } from '../target.ts'
import {
  buildTooManyExaminedFault,
  buildTooManyPlaceholdersFault,
  MAX_EXAMINED,
  MAX_PLACEHOLDERS,
} from './budget.ts'
import { changeNested, findQuoted, type Innermost, isJson, type Syntax } from './nested_text.ts'
import type { LocationStyle, Placeholder } from './placeholders.ts'
import { buildUnusableFault } from './unusable.ts'

/** A text that may hold placeholders, and how a value is written there. */
type Place = { style: Exclude<LocationStyle, 'websocket'>; text: string }

/** Excludes tickets, which are only for headers. */
const PLACEHOLDER = new RegExp(
  `${PLACEHOLDER_PREFIX}(${SECRET_NAME})(?![A-Za-z0-9_]|${TICKET_PATTERN})`,
  'g',
)
const MAX_URL_BYTES = 16_384
/** Maximum texts in a message that look like placeholders: it is searched without pauses. */
const MAX_IN_MESSAGE = 1024
const NO_BYTES = new Uint8Array()

export type Locations = {
  found: Placeholder[]
  body: Place | null
  /** Texts that look like placeholders but are not allowed in their place. */
  texts: Unfilled[]
}

export const NO_LOCATIONS: Locations = { found: [], body: null, texts: [] }

/** Whether a name is a placeholder in such a place, by the secrets' policies. */
export type IsPlaceable = (name: string, style: LocationStyle) => boolean

/** No policy lists such a place, so long text is not searched. */
export const NOTHING_PLACEABLE: IsPlaceable = () => false

/** Whether anything in the target or body looks like a placeholder. Rare, and cheap to check. */
export function mayHaveLocations({ path, search }: Target, body: Uint8Array | null): boolean {
  return (
    path.includes(PLACEHOLDER_PREFIX) || search.includes(PLACEHOLDER_PREFIX) || holdsPrefix(body)
  )
}

/**
 * Finds placeholders in target and body; `contentType` is the caller's header. Other texts stay.
 *
 * @throws Fault `validation_error` for too many placeholders, or too many texts that look like one
 */
export function findLocations(
  target: Target,
  body: Uint8Array | null,
  contentType: string | undefined,
  isPlaceable: IsPlaceable,
): Locations {
  const bodyPlace = body && placeOfBody(body, contentType)
  const texts: Unfilled[] = []
  const found = [
    ...findIn({ style: 'path', text: target.path }, isPlaceable, texts),
    ...findIn({ style: 'query', text: target.search }, isPlaceable, texts),
  ]
  if (!bodyPlace) return { found, body: null, texts: [...texts, ...textsOf(body)] }
  // In valid JSON, the prefix is always inside a string, where an escaped value is right.
  const isWhole = hasDeclaredType(bodyPlace)
  const inBody = findIn(bodyPlace, isWhole ? isPlaceable : NOTHING_PLACEABLE, texts)
  if (inBody.length === 0) return { found, body: null, texts }
  return { found: [...found, ...inBody], body: bodyPlace, texts }
}

function findIn({ style, text }: Place, isPlaceable: IsPlaceable, texts: Unfilled[]) {
  const found: Placeholder[] = []
  let examined = 0
  if (!text.includes(PLACEHOLDER_PREFIX)) return found
  for (const [, name = ''] of text.matchAll(PLACEHOLDER)) {
    examined += 1
    if (examined > MAX_EXAMINED) throw buildTooManyExaminedFault()
    if (isPlaceable(name, style)) found.push({ name, style, header: '' })
    else if (texts.length < MAX_PLACEHOLDERS) texts.push({ name, place: style })
    else if (isPlaceable === NOTHING_PLACEABLE) break
    if (found.length > MAX_PLACEHOLDERS) throw buildTooManyPlaceholdersFault()
  }
  return found
}

/** In a body of another type. */
function textsOf(body: Uint8Array | null): Unfilled[] {
  if (body === null || !holdsPrefix(body)) return []
  const found = Buffer.from(body.buffer, body.byteOffset, body.length)
    .toString('latin1')
    .matchAll(PLACEHOLDER)
  return [...found.take(MAX_PLACEHOLDERS)].map(([, name = '']) => ({ name, place: 'body' }))
}

/**
 * The placeholders of a text message.
 *
 * @throws Fault `validation_error` for too many, or too many texts that look like one
 */
export function findInMessage(text: string, isPlaceable: IsPlaceable): Placeholder[] {
  if (text.split(PLACEHOLDER_PREFIX, MAX_IN_MESSAGE + 2).length > MAX_IN_MESSAGE + 1)
    throw buildTooManyExaminedFault(MAX_IN_MESSAGE)
  const found: Placeholder[] = []
  for (const [, name = ''] of text.matchAll(PLACEHOLDER))
    if (isPlaceable(name, 'websocket')) found.push({ name, style: 'websocket', header: '' })
  if (found.length > MAX_PLACEHOLDERS) throw buildTooManyPlaceholdersFault()
  return found
}

/**
 * Replaces the found placeholders of a text message, with escapes in JSON.
 *
 * @throws Fault `unusable_secret` for a value that does not fit its place
 */
export function fillMessage(text: string, values: ReadonlyMap<string, Secret>): string {
  const valueFor = (name: string) => values.get(name)?.reveal()
  if (!isJson(text)) return fillText({ syntax: 'text', raw: text, read: text }, valueFor)
  return changeNested('json', text, {
    isSought: (part) => part.includes(PLACEHOLDER_PREFIX),
    change: (innermost) => fillText(innermost, valueFor),
  })
}

/** Returns the style of placeholders in a body of this type, which must be read whole; `null` if they are text. */
export function styleOfBody(contentType: string | null | undefined): 'json' | 'form' | null {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (/^application\/([a-z0-9.+-]+\+)?json$/.test(type)) return 'json'
  return type === FORM_TYPE ? 'form' : null
}

/** Reads a body only as its declared type. */
function placeOfBody(bytes: Uint8Array, contentType: string | undefined): Place | null {
  const style = styleOfBody(contentType)
  if (style === null || !holdsPrefix(bytes)) return null
  const text = fromUtf8(bytes)
  return text === null ? null : { style, text }
}

export function holdsPrefix(bytes: Uint8Array | null): boolean {
  if (bytes === null) return false
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(PLACEHOLDER_PREFIX)
}

function hasDeclaredType({ style, text }: Place): boolean {
  return style !== 'json' || isJson(text)
}

/** Path, query and body with their values; the body is `null` if nothing was inserted. */
export type FilledRequest = Hidden<{ path: string; search: string; body: Uint8Array | null }>

/**
 * Replaces the found placeholders once; all other text stays literal.
 *
 * @throws Fault `unusable_secret` for a value that does not fit its place
 */
export function fillLocations(
  target: Target,
  { found, body }: Locations,
  values: ReadonlyMap<string, Secret>,
): FilledRequest {
  if (found.length === 0)
    return new Hidden({ path: target.path, search: target.search, body: null })
  const fill = (style: Place['style'], text: string) => {
    const names = new Set(found.filter((use) => use.style === style).map(({ name }) => name))
    if (names.size === 0) return text
    const valueFor = (name: string) => (names.has(name) ? values.get(name)?.reveal() : undefined)
    if (style === 'path') return fillText({ syntax: 'form', raw: text, read: '' }, valueFor)
    return changeNested(style === 'json' ? 'json' : 'form', text, {
      isSought: (part) => part.includes(PLACEHOLDER_PREFIX),
      change: (innermost) => fillText(innermost, valueFor),
    })
  }
  const path = fill('path', target.path)
  const search = fill('query', target.search)
  if (path !== target.path || search !== target.search) checkUrl(path, search)
  const filledBody = body && fill(body.style, body.text)
  return new Hidden({
    path,
    search,
    body: filledBody === null ? null : new TextEncoder().encode(filledBody),
  })
}

type ValueFor = (name: string) => Uint8Array | undefined
type Filled = Omit<Innermost, 'syntax'> & { syntax: Syntax | 'text' }

/** @throws Fault `unusable_secret` if the value needs an escape and the syntax is unknown */
function fillText({ syntax, raw, read }: Filled, valueFor: ValueFor): string {
  if (read.includes('"')) checkEscapes(read, valueFor)
  return raw.replace(PLACEHOLDER, (whole, name: string) => {
    const value = valueFor(name)
    return value ? write(syntax, name, value) : whole
  })
}

function checkEscapes(read: string, valueFor: ValueFor): void {
  const found = [...read.matchAll(PLACEHOLDER)].filter(([, name = '']) => valueFor(name))
  const areQuoted = findQuoted(
    read,
    found.map(({ index }) => index),
  )
  for (const [at, [, name = '']] of found.entries()) {
    const value = valueFor(name) ?? NO_BYTES
    if (!areQuoted[at] || write('json', name, value) === fromUtf8(value)) continue
    throw buildUnusableFault(
      `The secret ${name} has quotes, backslashes or line breaks, and its placeholder is in quotes in text that is not valid JSON. Put the placeholder in a string of valid JSON, or in a separate field.`,
    )
  }
}

function write(syntax: Filled['syntax'], name: string, value: Uint8Array): string {
  if (syntax === 'form') return percentEncode(value)
  const text = fromUtf8(value)
  if (text === null)
    throw buildUnusableFault(`The secret ${name} is not text and cannot be sent in JSON.`)
  return syntax === 'text' ? text : JSON.stringify(text).slice(1, -1)
}

/** A value must not change the path that contains it: `..` in a segment would, or nothing in the first. */
function checkUrl(path: string, search: string): void {
  const url = URL.parse(`https://host${path}${search}`)
  if (
    url?.pathname !== path ||
    path.startsWith('//') ||
    path.length + search.length > MAX_URL_BYTES
  ) {
    throw buildUnusableFault('A secret cannot be sent in this place of the URL.')
  }
}
