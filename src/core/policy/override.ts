/**
 * Detects overrides: frameworks accept another method, host or path than the request's own, object stores another
 * object, and some APIs further requests. With an override, an allowed call would do what its policy forbids.
 */
import { callMethods } from './policy.ts'

/** Names that override a method, in a header or in the query; `_` is written as `-`. */
const METHOD_OVERRIDES = [
  'x-(http|tunnel|real|original)-method(-override)?',
  'x-method(-override)?',
  '(http-)?method-override',
  '-method',
]

const IN_HEADERS = new RegExp(
  `^(${[
    ...METHOD_OVERRIDES,
    'x-http-verb(-override)?',
    'x-(original|rewrite)-(url|uri|path|host)',
    'x-envoy-original-(path|method|host)',
    'x-http-destinationurl',
    'x-forwarded-.*',
    'forwarded',
    // The object that is copied or renamed: of S3 and its kind, Azure and Swift.
    'x-([a-z-]+-)?(copy|rename)-source(-.*)?',
    'x-copy-from(-.*)?',
  ].join('|')})$`,
)

/** Names in the query, including `$httpMethod` and similar. */
const IN_QUERY = new RegExp(
  `^(${[...METHOD_OVERRIDES, '[$-]?http-?method(-override)?'].join('|')})$`,
)
/** A name that APIs also use for other things: it overrides the method only if its value is a method. */
const AMBIGUOUS = 'method'
/** Rounds of unescaping, for escapes within escapes. */
const MAX_ROUNDS = 5
/** Characters of a name, however it is escaped. */
const MAX_NAME = 512
const METHODS: ReadonlySet<string> = new Set(callMethods)

/** Returns the first overriding header among names in any case. Many servers read `_`, and some `.`, as `-`. */
export function overrideAmong(names: readonly string[]): string | null {
  return names.find(isOverrideHeader) ?? null
}

function isOverrideHeader(name: string): boolean {
  // Hardly any name begins as those do.
  return /^[-_.fhmx]/i.test(name) && IN_HEADERS.test(name.toLowerCase().replace(/[_.]/g, '-'))
}

/** Returns the methods, in upper case, with which a query (empty, or with its `?`) overrides the request's. */
export function methodsAskedFor(search: string): string[] {
  return search
    .slice(1)
    .split(/[&;]/)
    .flatMap((parameter) => {
      const [, name = '', text = ''] = /^([^=]*)=?(.*)$/s.exec(parameter) ?? []
      const method = decode(text).trim().toUpperCase()
      const key = keyOf(name)
      const isOverride = IN_QUERY.test(key) || (key === AMBIGUOUS && METHODS.has(method))
      return isOverride && method !== '' ? [method] : []
    })
}

/** Whether a form field or JSON member with that name overrides the method. */
export function isOverrideName(name: string): boolean {
  return name.length <= MAX_NAME && IN_QUERY.test(keyOf(name))
}

/**
 * Whether the body names objects: for S3 (`?delete`, with any value) and Azure (`comp=batch`), or for an object that is
 * read with a body (S3 Select).
 */
export function namesObjectsInBody(
  search: string,
  isSignedForAws: boolean,
): 'delete' | 'select' | 'batch' | null {
  for (const parameter of search.slice(1).split('&')) {
    const [, name = '', text = ''] = /^([^=]*)=?(.*)$/s.exec(parameter) ?? []
    if (decode(name) === 'delete' && (isSignedForAws || text === '')) return 'delete'
    if (decode(name) === 'select' && isSignedForAws) return 'select'
    if (/^comp$/i.test(decode(name)) && /^batch$/i.test(decode(text))) return 'batch'
  }
  return null
}

/** Whether a body of that type has parts, of which each may be a request (Google, OData). */
export function mayHoldRequests(contentType: string | undefined): boolean {
  return /\bmultipart\/mixed\b/i.test(contentType ?? '')
}

/** Whether the last segment of a path is where batches of requests are sent to, as the most lenient of servers reads it. */
export function isForBatches(path: string): boolean {
  let read = path
  for (let round = 0; round < MAX_ROUNDS; round += 1) read = decode(read)
  const segments = read.normalize('NFKC').split(/[/\\]/)
  const last = segments.findLast((segment) => segment.trim() !== '') ?? ''
  return /^\$?batch([;.(].*)?$/is.test(last.trim())
}

/** Returns a key as the most lenient framework reads it: PHP takes dots and blanks for `_`, and `a[]` for `a`. */
function keyOf(name: string): string {
  return decode(name)
    .trimStart()
    .replace(/[[\0].*$/s, '')
    .toLowerCase()
    .replace(/[_. ]/g, '-')
}

/** Malformed escapes stay as they are. */
function decode(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    )
}
