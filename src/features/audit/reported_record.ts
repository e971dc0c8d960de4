/** The record of a request that a client made itself, as it reports it to the audit. */
import { z } from 'zod'
import { policyRules } from '../../core/fault.ts'
import { MAX_UNFILLED } from '../../core/policy/unfilled.ts'
import { tokenPattern } from '../../core/token_pattern.ts'
import { line } from '../../core/validation/validate.ts'
import { environment, projectId, rarelyNeeded, unfilledPlaceholder } from '../../http/fields.ts'

/** The years that both JavaScript and PostgreSQL write with four digits. */
const EARLIEST = Date.parse('0001-01-02T00:00:00Z')
const LATEST = Date.parse('9999-12-30T00:00:00Z')

/** An ISO 8601 moment with `Z` or an offset, or a day, which begins at midnight UTC. */
export const reportedMoment = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()])
  .transform((text) => new Date(text))
  .refine(
    (date) => date.getTime() >= EARLIEST && date.getTime() <= LATEST,
    'must be between the years 1 and 9999',
  )

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** So long ago: `7d`, `12h`. */
const ago = z
  .string()
  .regex(/^\d{1,5}[smhdw]$/)
  .transform((text) => {
    const unit = text.slice(-1) as keyof typeof UNIT_MS
    return new Date(Date.now() - Number(text.slice(0, -1)) * UNIT_MS[unit])
  })

/** An end of a range of time: a moment, a day, or how long ago. */
export const rangeEnd = z
  .union([reportedMoment, ago], 'must be a time, a day or a duration: 2026-03-14, 7d, 12h')
  .meta({ examples: ['7d'] })

/** RFC 9110, section 9.1; kept in upper case. */
export const method = z
  .string()
  .regex(tokenPattern(32), 'must be a method name')
  .toUpperCase()
  .meta({ examples: ['POST'] })

const MAX_URL = 8192

const injectionStyle = z.enum([
  'header',
  'basic',
  'query',
  'path',
  'json',
  'form',
  'websocket',
  'env',
  'hmac_sha256',
  'aws_sigv4',
  'azure_storage',
  'google_jwt',
])

/** Names of one record (protocol 8): each is an entry of the index and of every count. */
export const MAX_JOINED = 16

/** Comma-joined, as the records hold them. */
function joinExample(example: string, entry: z.ZodType<string, string>) {
  return (
    z
      .string()
      .meta({ examples: [example] })
      // One more than may be: enough to see that there are too many.
      .transform((text) => text.split(',', MAX_JOINED + 1).map((part) => part.trim()))
      .pipe(z.array(entry).max(MAX_JOINED))
      .transform((parts) => parts.join(','))
  )
}

/** The secret whose policy refused, and which rule of it. */
export const refusedBy = z
  .object({
    secret: line(128).meta({ examples: ['STRIPE_API_KEY'] }),
    rule: z.enum(policyRules).meta({ examples: ['allowed_methods'] }),
  })
  .meta({ id: 'RefusedBy' })

/** Placeholders that went out as text, with where they were. */
export const unfilled = z.array(unfilledPlaceholder).max(MAX_UNFILLED)

/** Fields that are not named here are ignored; null is read as absent. */
const reportedRecord = z.object({
  id: line(64)
    .meta({ examples: ['call-0001'] })
    .nullish(),
  timestamp: reportedMoment,
  method,
  target_url: line(MAX_URL)
    .meta({ examples: ['https://api.stripe.com/v1/charges'] })
    .nullish(),
  target_domain: line(255)
    .meta({ examples: ['api.stripe.com'] })
    .nullish(),
  target_path: line(MAX_URL)
    .meta({ examples: ['/v1/charges'] })
    .nullish(),
  project_id: projectId.nullish(),
  environment: environment.nullish(),
  status_code: z
    .number()
    .int()
    .min(100)
    .max(599)
    .meta({ examples: [200] })
    .nullish(),
  duration_ms: z.number().min(0).max(2_147_483_647).transform(Math.round).nullish(),
  redacted: z.boolean().nullish(),
  credential_ref: joinExample('STRIPE_API_KEY', line(128)).nullish(),
  injection_style: joinExample('header', injectionStyle).nullish(),
  unfilled: unfilled.nullish().meta(rarelyNeeded),
  decision: z.enum(['allowed', 'blocked', 'error']).nullish(),
  reason: line(200).nullish().meta(rarelyNeeded),
  refused_by: refusedBy.nullish().meta(rarelyNeeded),
})

/** A record with its target in the form in which it is stored. */
export const placedRecord = reportedRecord.transform((record, context) => {
  const target = readTarget(record)
  if (target) return { ...record, ...target }
  const path = record.target_url ? 'target_url' : 'target_domain'
  const given = record.target_url ?? record.target_domain
  const message = given
    ? path === 'target_url'
      ? 'must be an absolute http, https, ws or wss URL'
      : 'must be a host name'
    : 'is required unless target_url is given'
  context.addIssue({ code: 'custom', path: [path], message })
  return z.NEVER
})

export type ReportedRecord = z.output<typeof placedRecord>

type StoredTarget = {
  target_url: string | null
  target_path: string | null
  target_domain: string
}

type Reported = {
  target_url?: string | null | undefined
  target_domain?: string | null | undefined
  target_path?: string | null | undefined
}

const SCHEMES = ['http:', 'https:', 'ws:', 'wss:']
const MAX_LENGTH = 8192
/** Characters that a URL parser drops or changes silently, or that end a host name early. */
const NOT_IN_A_HOST = /[\s/?#@\\]/

/**
 * The target of a reported request, as the audit stores it: without parts that may hold a credential, which are the
 * user information, the query and the fragment of its URL.
 *
 * From the URL if there is one, else from the domain; `null` without a host.
 */
function readTarget({
  target_url: url,
  target_domain: domain,
  target_path: path,
}: Reported): StoredTarget | null {
  if (url) return fromUrl(url)
  if (!domain || NOT_IN_A_HOST.test(domain)) return null
  const host = fromUrl(`https://${domain}`)
  return host && { ...host, target_url: null, target_path: path ? withoutQuery(path) : null }
}

function fromUrl(text: string): StoredTarget | null {
  const parsed = /[\s\\]/.test(text) ? null : URL.parse(text)
  if (!parsed || !SCHEMES.includes(parsed.protocol) || parsed.hostname === '') return null
  const { protocol, host, pathname } = parsed
  const target_url = `${protocol}//${host}${pathname}`
  // Escapes make a text longer than it was.
  if (target_url.length > MAX_LENGTH) return null
  const target_domain = parsed.hostname.replace(/\.$/, '')
  return { target_url, target_path: pathname, target_domain }
}

function withoutQuery(path: string): string {
  return path.replace(/[?#].*$/s, '')
}
