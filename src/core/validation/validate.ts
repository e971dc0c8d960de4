/** Validation at the edge: zod's issues become field faults that never repeat submitted text. */
import { z } from 'zod'
import { Fault } from '../fault.ts'
import { SECRET_NAME } from '../names/secret_name.ts'
import { describeMaximumEntries, describeMinimumEntries, fieldFaults } from './complaints.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/**
 * Parses one part of a request by its contract.
 *
 * @throws Fault `validation_error`
 */
export function parsePart<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value, { reportInput: true })
  if (parsed.success) return parsed.data
  throw new Fault('validation_error', { fields: fieldFaults(parsed.error.issues) })
}

/** Shared field types, so that a rule of the protocol is written once. */
export const uuid = z.string().regex(UUID, 'must be a UUID').toLowerCase()
/** ISO 8601 UTC with milliseconds and `Z` on the wire; accepts the database's dates. */
export const timestamp = z.preprocess(
  (value) => (isMoment(value) ? value.toISOString() : value),
  z.iso.datetime({ precision: 3 }),
)

const EARLIEST = Date.parse('0000-01-01T00:00:00Z')
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

/** Whether a date has a year of four digits. PostgreSQL also has other years, and infinity. */
export function isMoment(value: unknown): value is Date {
  return value instanceof Date && value.getTime() >= EARLIEST && value.getTime() <= LATEST
}

/**
 * Characters that text for people must not contain: they break a log line, control a terminal, or make a name look like
 * another (U+202E and similar). Lone surrogates are not text.
 */
const UNFIT = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u

/** One line of text, such as a name or a label, of at most `max` characters (UTF-16 units). */
export function line(max: number, min = 1) {
  return z
    .string()
    .min(min)
    .max(max)
    .refine((text) => !UNFIT.test(text), 'must not contain control characters')
    .refine((text) => min === 0 || text.trim() !== '', 'must not be blank')
}

/** Path steps and escapes that would mislead a program which puts a name into a path. */
const DOT_SEGMENTS = /^\.{1,2}$|%2f|%5c/i

/** A name of something, in one line of at most `max` characters. */
export function title(max: number) {
  return line(max).refine((text) => !DOT_SEGMENTS.test(text), 'must not be . or ..')
}

/** Invisible characters, which make different names look alike. Joiners between the parts of an emoji are allowed. */
const UNSEEN =
  /(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)(?:\u200d|\ufe0f)|(?!\u200d|\ufe0f)\p{Default_Ignorable_Code_Point}|(?! )\p{Zs}|^ | $/u

/** A title that people choose by, so that no two look alike. */
export function buildNameSchema(max: number) {
  return title(max).refine(
    (text) => UNFIT.test(text) || text.trim() === '' || !UNSEEN.test(text),
    'must not contain invisible characters',
  )
}

/** RFC 5321, section 4.5.3.1.3: a path has 256 octets, two of them angle brackets. */
const MAX_EMAIL = 254

/** An address, kept and compared in lower case. */
export const email = z
  .string()
  .max(MAX_EMAIL, { abort: true })
  .toLowerCase()
  .pipe(z.email())
  .meta({ format: 'email', examples: ['ada@example.com'] })

/** A map of at most `max` entries. Its schema states the limit, and a reader can stop there. */
export function map<K extends z.ZodString, V extends z.ZodType>(
  { min = 0, max }: { min?: number; max: number },
  name: K,
  value: V,
) {
  return z
    .record(name, value)
    .refine((entries) => Object.keys(entries).length >= min, describeMinimumEntries(min))
    .refine((entries) => Object.keys(entries).length <= max, describeMaximumEntries(max))
    .meta({ ...(min > 0 && { minProperties: min }), maxProperties: max })
}

/** The last group of canonical base64, by how many bytes it has. */
const LAST_GROUPS = ['', '[A-Za-z0-9+/][AQgw]==', '[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=']

/** Canonical base64 with padding (RFC 4648, section 4) of at most this many decoded bytes. */
export function base64(maxBytes: number, minBytes = 0): z.ZodType<string, string> {
  const lengthOf = (bytes: number) => Math.ceil(bytes / 3) * 4
  const maxLength = lengthOf(maxBytes)
  const isExact = minBytes === maxBytes
  const [, one, two] = LAST_GROUPS
  const groups = isExact ? `{${Math.floor(maxBytes / 3)}}` : '*'
  const last = isExact ? LAST_GROUPS[maxBytes % 3] : `(?:${one}|${two})?`
  const text = z.string().superRefine((text, context) => {
    // Do not decode a value that is too long. Its rest may not have been read.
    const size = text.length > maxLength ? text.length : base64Size(text)
    if (size === null)
      context.addIssue({ code: 'custom', message: 'must be canonical base64 with padding' })
    else if (isExact && size !== maxBytes) {
      context.addIssue({ code: 'custom', message: `must encode exactly ${maxBytes} bytes` })
    } else if (size > maxBytes)
      context.addIssue({ code: 'custom', message: `must encode at most ${maxBytes} bytes` })
    else if (size < minBytes) context.addIssue({ code: 'custom', message: 'must not be empty' })
  })
  const pattern = `^(?:[A-Za-z0-9+/]{4})${groups}${last}$`
  return text.meta({ minLength: lengthOf(minBytes), maxLength, pattern })
}

function base64Size(text: string): number | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' }).length
  } catch {
    return null
  }
}

/** Canonical base64 of URLs without padding (RFC 4648, section 5), as browsers write bytes. */
export function base64Url(maxBytes: number, minBytes: number) {
  const lengthOf = (bytes: number) => Math.ceil((bytes * 4) / 3)
  return z
    .string()
    .min(lengthOf(minBytes))
    .max(lengthOf(maxBytes), { abort: true })
    .regex(
      /^(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?$/,
      'must be canonical base64url without padding',
    )
}

/** An environment of a project (protocol 5.4). */
export const environmentName = z
  .string()
  .regex(
    /^[a-z][a-z0-9_-]{0,31}$/,
    'must be at most 32 lower-case letters, digits, _ and -, and begin with a letter',
  )

/** Names that would shadow the paths below a project. */
const RESERVED_PROJECTS = new Set([
  'environments',
  'secrets',
  'invite',
  'restore',
  'workload-tokens',
])

/** The name of a project (protocol 5.4). */
export const projectName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{1,62}$/,
    'must be 2 to 63 lower-case letters, digits, _ and -, and begin with a letter or a digit',
  )
  .refine((name) => !RESERVED_PROJECTS.has(name), 'is a reserved name')
  .refine((name) => !isUuid(name), 'must not look like an ID')
  .meta({ examples: ['billing'] })

const RESERVED_SECRETS = new Set(['__proto__', 'constructor', 'prototype'])

/** The name of a secret. */
export const secretKey = z
  .string()
  .regex(
    new RegExp(`^${SECRET_NAME}$`),
    'must be at most 128 letters, digits and _, and not begin with a digit',
  )
  .refine((key) => !RESERVED_SECRETS.has(key), 'is a reserved name')
  .meta({ examples: ['STRIPE_API_KEY'] })

const DIGITS = /^\d+$/

/**
 * A whole number in text, such as a query or a header: decimal digits and nothing else. JavaScript's own
 * conversion also accepts `0x10`, `1e2`, `+5`, spaces and empty text.
 */
export function wholeNumber(min: number, max: number) {
  return z.preprocess((value, context) => {
    if (typeof value !== 'string') return value
    if (DIGITS.test(value)) return Number(value)
    context.addIssue({ code: 'custom', message: 'must be a whole number, in digits only' })
    return z.NEVER
  }, z.number().min(min).max(max).int())
}

/** The query of every list (protocol 2). */
export const pagination = z.strictObject({
  limit: wholeNumber(1, 500).default(100),
  cursor: z.string().max(512).optional().meta({ examples: [] }),
  workspace_id: uuid.optional(),
})
