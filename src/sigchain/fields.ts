/**
 * The fields of signed texts, each with one spelling. Signed texts are verified for as long as the workspace exists. So
 * nothing here depends on data that changes with time, such as the list of public suffixes or the tables of Unicode:
 * whether a domain is allowed is decided when it is added.
 */
import { z } from 'zod'
import { fromBase64, fromBase64Url } from '../core/crypto/encoding.ts'

const HASH_BYTES = 32
const BASE64_LENGTH = 44
const BASE64URL_LENGTH = 43
const TIME_LENGTH = 24
const MAX_ADDRESS = 254
const MAX_HOST = 253
const MAX_PATH = 2048

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const ID_OF_VERSION_8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
/** Printable ASCII without capitals, on both sides of an `@`. */
const ADDRESS = /^[!-@[-~]+@[!-@[-~]+$/
const DOMAIN = /^(?<wildcard>\*\.)?(?<host>[^:*]+)(?::(?<port>[1-9]\d{0,4}))?$/
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** The characters of RFC 3986 in a path, with escapes. */
const PATH = /^\/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*$/
const DOTS = /^(?:\.|%2e){1,2}$/i
/** The last label of a host that a URL parser reads as an IPv4 address. */
const NUMBER = /^(?:\d+|0x[0-9a-f]*)$/

export const id = z.string().regex(ID)
/** The id of a signed workspace, or of a token in one. Such an id requires signatures. */
export const signedId = z.string().regex(ID_OF_VERSION_8)

/** Whether an id is that of a signed workspace, or of a token in one. */
export function isSignedId(text: string): boolean {
  return ID_OF_VERSION_8.test(text)
}

export const time = z.string().refine(isTime)
export const address = z.string().max(MAX_ADDRESS).regex(ADDRESS)
export const domain = z.string().refine(isDomain)
/** A domain without wildcard. */
export const host = domain.refine((text) => !text.startsWith('*'))
export const callMethod = z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
/** The beginning of a normalised path. */
export const path = z.string().refine(isPath)
/** Names of secrets, as calls write them. */
export const secretName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/)
export const key = z
  .string()
  .refine((text) => text.length === BASE64_LENGTH && fromBase64(text)?.length === HASH_BYTES)
export const hash = z
  .string()
  .refine((text) => text.length === BASE64URL_LENGTH && fromBase64Url(text)?.length === HASH_BYTES)
export const number = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)
export const role = z.enum(['owner', 'admin', 'member', 'read_only'])
export type Role = z.output<typeof role>

/** A list that is read only up to the first invalid element, because long invalid lists would be costly. */
export function listOf<T>(element: z.ZodType<T>, min: number): z.ZodType<T[]> {
  return z.unknown().transform((value, context): T[] => {
    const list = Array.isArray(value) ? readAll(element, value) : null
    if (list !== null && list.length >= min) return list
    context.addIssue({ code: 'custom' })
    return z.NEVER
  })
}

function readAll<T>(element: z.ZodType<T>, values: readonly unknown[]): T[] | null {
  const list: T[] = []
  for (const value of values) {
    const read = element.safeParse(value)
    if (!read.success) return null
    list.push(read.data)
  }
  return list
}

/** ISO 8601 UTC with milliseconds, of a moment that exists. */
function isTime(text: string): boolean {
  const date = new Date(text)
  return text.length === TIME_LENGTH && !Number.isNaN(+date) && date.toISOString() === text
}

/** An absolute path without dot segments. */
export function isPath(text: string): boolean {
  return (
    text.length <= MAX_PATH &&
    PATH.test(text) &&
    !text.split('/').some((segment) => DOTS.test(segment))
  )
}

/** A domain as the allowlist stores it: lower case, punycode, `*.` and a port other than 443 as needed. */
export function isDomain(text: string): boolean {
  const { wildcard, host = '', port } = DOMAIN.exec(text)?.groups ?? {}
  const labels = host.split('.')
  if (host.length + (wildcard?.length ?? 0) > MAX_HOST) return false
  if (port === '443' || Number(port ?? 1) > 65_535) return false
  if (wildcard !== undefined && labels.length < 2) return false
  return labels.every((label) => LABEL.test(label)) && !NUMBER.test(labels.at(-1) ?? '')
}
