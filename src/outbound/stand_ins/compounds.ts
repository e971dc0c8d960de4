/**
 * The shapes of URLs and connection strings. Fixed text must be proved public by a strict grammar of the whole value: a
 * value that differs from it anywhere, for example with two `@`, is not split.
 */
import { connectionFieldsOf } from './parts.ts'
import { joinParts, mergeParts, runOf, safeRunOf } from './runs.ts'
import type { StandInPart, StandInShape, Unshaped } from './shape.ts'

/** With user information in unambiguous characters, a host name, and at most a port and a short segment. */
const URL_WITH_LOGIN =
  /^([a-z][a-z0-9+.-]{0,31}:\/\/)([\w.~!$*+%-]*)(?:(:)([\w.~!$*+%:-]*))?(@[a-z0-9.-]{1,253}(?::\d{1,5})?(?:\/[\w-]{0,16})?)$/i

/** All fields are known, unique and unquoted, with two parts each. */
const MAX_FIELDS = 32
const QUOTING = /["'{}]/
const SECRET_FIELDS = words(`
  password; pwd; account key; accountkey; shared access key; sharedaccesskey; shared access signature;
  sharedaccesssignature; primary key; primarykey; user; user id; userid; uid; username; user name;
  sharedaccesskeyname`)
const PUBLIC_FIELDS = words(`
  server; host; hostname; data source; address; port; database; initial catalog; encrypt;
  trustservercertificate; trust server certificate; sslmode; ssl mode; pooling; timeout; connection timeout;
  connect timeout; persist security info; multipleactiveresultsets; accountname; account name;
  defaultendpointsprotocol; endpointsuffix; endpoint; entitypath`)
const PUBLIC_VALUE = /^(?:(?:sb|https):\/\/)?[A-Za-z0-9._:,-]{0,128}\/?$/

/** Returns the shape of a URL, which keeps everything except the user information. */
export function urlIn(text: string): StandInShape | Unshaped | null {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return null
  const [, scheme = '', user = '', colon = '', password = '', place = ''] =
    URL_WITH_LOGIN.exec(text) ?? []
  if (user === '' && password === '') return 'url'
  return mergeParts([
    { text: scheme },
    ...(user ? [{ ...safeRunOf(user), part: 'USER' as const }] : []),
    { text: colon },
    ...(password ? [{ ...safeRunOf(password), part: 'PASSWORD' as const }] : []),
    { text: place },
  ])
}

/** Returns the shape of a connection string, which keeps its field names and its target. */
export function connectionIn(text: string): StandInShape | null {
  if (QUOTING.test(text) || text.split(';', MAX_FIELDS + 1).length > MAX_FIELDS) return null
  const fields = connectionFieldsOf(text)
  const first = fields?.find(({ isSecret }) => isSecret)
  if (!fields || !first || !areKnown(fields.map(({ name }) => name))) return null
  const shapes = fields.map((field): StandInPart[] => {
    const { name, value } = field
    if (value === '' || isPublic(name, value)) return [{ text: name + value }]
    return [{ text: name }, { ...runOf(value), ...(field === first ? { part: 'KEY' } : {}) }]
  })
  return mergeParts(joinParts(shapes, ';'))
}

function areKnown(fields: readonly string[]): boolean {
  // Nothing follows the last `;`.
  const names = fields.map(nameOf).filter((name, at) => name !== '' || at < fields.length - 1)
  const isKnown = (name: string) => SECRET_FIELDS.has(name) || PUBLIC_FIELDS.has(name)
  return names.every(isKnown) && new Set(names).size === names.length
}

function isPublic(field: string, value: string): boolean {
  return PUBLIC_FIELDS.has(nameOf(field)) && PUBLIC_VALUE.test(value)
}

function nameOf(field: string): string {
  return field.replace('=', '').trim().toLowerCase()
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(';').map((word) => word.trim()))
}
