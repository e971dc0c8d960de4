/**
 * Headers with encoded text: Basic credentials (RFC 7617), and binary metadata of gRPC ("Custom-Metadata"),
 * whose names end in `-bin`: base64 of either alphabet, padded or not, several values of one name with commas
 * between them.
 */
import { fromUtf8 } from '../core/crypto/encoding.ts'
import { PLACEHOLDER_PREFIX } from '../core/names/secret_name.ts'
import type { Call } from './call.ts'

const BASIC = /^(basic +)([A-Za-z0-9+/]+={0,2})([ \t]*)$/i
const BETWEEN_COMMAS = /[^,\s]+/g
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

type Encode = (bytes: Uint8Array) => string

export type Encoding = { charset: 'utf8' | 'latin1'; encode: Encode }

export type HeaderText = {
  text: string
  /** The encoding as written, unless the text is not encoded. */
  encoded: Encoding | null
}

/** Returns the replacement of a text, encoded as the text was; `null` to keep it. */
type ChangeText = (found: HeaderText) => string | null
type ChangeBytes = (bytes: Buffer, encode: Encode) => string | null

/**
 * Returns the value with its text changed: as written, or, if that has no change, in its decoded form. Basic
 * credentials are changed only if they are UTF-8. Binary metadata may be any bytes.
 */
export function changeTexts(name: string, value: string, change: ChangeText): string {
  const changed = change({ text: value, encoded: null })
  if (changed !== null) return changed
  const key = name.toLowerCase()
  if (key === 'authorization') return changeCredentials(value, change)
  if (!isBinary(key)) return value
  return changeBinary(value, (bytes, encode) => {
    const text = fromUtf8(bytes)
    const charset = text === null ? 'latin1' : 'utf8'
    return change({ text: text ?? bytes.toString(charset), encoded: { charset, encode } })
  })
}

/** The base64 of Basic credentials; `null` for other values of `Authorization`. */
export function basicIn(value: string): string | null {
  return BASIC.exec(value)?.[2] ?? null
}

function changeCredentials(value: string, change: ChangeText): string {
  const [, before = '', base64 = '', after = ''] = BASIC.exec(value) ?? []
  const text = fromUtf8(Buffer.from(base64, 'base64'))
  if (!text) return value
  const encode: Encode = (bytes) => bytes.toBase64()
  const changed = change({ text, encoded: { charset: 'utf8', encode } })
  return changed === null ? value : before + changed + after
}

/** Returns the header with the bytes of each of its values changed; a value that is not base64 stays. */
export function changeBinary(value: string, change: ChangeBytes): string {
  return value.replace(BETWEEN_COMMAS, (text) => {
    if (!BASE64.test(text)) return text
    const alphabet = /[-_]/.test(text) ? 'base64url' : 'base64'
    const omitPadding = text.length % 4 !== 0
    const encode: Encode = (bytes) => bytes.toBase64({ alphabet, omitPadding })
    return change(Buffer.from(text, 'base64'), encode) ?? text
  })
}

/** `name` in lower case. */
export function isBinary(name: string): boolean {
  return name.endsWith('-bin')
}

/** Whether all of it decodes, and no part is a secret name, whose letters are also valid base64. */
export function isBase64(value: string): boolean {
  const texts = value.match(BETWEEN_COMMAS) ?? []
  return !value.includes(PLACEHOLDER_PREFIX) && texts.every((text) => BASE64.test(text))
}

/** Headers that hold credentials also without a placeholder. */
const CREDENTIALS = ['authorization', 'cookie']

/**
 * Returns a call without credentials, for a call that another host's redirect or link led to (`~from=HOST` in its
 * address). Clients repeat the headers of the previous call, so that host's credentials would follow to any target. As
 * in a browser, none of them counts: headers with one are left out, placeholders elsewhere are text, and nothing is
 * signed.
 */
export function withoutCredentials(call: Call): Call {
  const kept = Object.entries(call.headers).filter(
    ([name, value]) => !CREDENTIALS.includes(name.toLowerCase()) && !holdsPlaceholder(name, value),
  )
  return { ...call, headers: Object.fromEntries(kept), signing: null }
}

function holdsPlaceholder(name: string, value: string): boolean {
  let isFound = false
  changeTexts(name.toLowerCase(), value, ({ text }) => {
    isFound ||= text.includes(PLACEHOLDER_PREFIX)
    return null
  })
  return isFound
}
