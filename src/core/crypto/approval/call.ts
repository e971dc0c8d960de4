/** The call that a member is asked to approve (protocol 14.2), in the one form that is hashed, stored and shown. */
import { z } from 'zod'
import { PLACEHOLDER_PREFIX } from '../../names/secret_name.ts'
import { fromBase64Url } from '../encoding.ts'

const HASH_BYTES = 32
const HASH_LENGTH = 43
/** Secrets that one call may use. */
export const MAX_APPROVED_SECRETS = 16
const MAX_HEADERS = 1000
const MAX_URL = 65_536
const MAX_HEADER_TEXT = 65_536
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const id = z.string().regex(UUID)
const hash = z
  .string()
  .refine((text) => text.length === HASH_LENGTH && fromBase64Url(text)?.length === HASH_BYTES)

/** Hashes are b64url of SHA-256: of the stored ciphertext, and of the policy in JCS. */
const usedSecret = z.strictObject({
  project_id: id,
  environment: z.string().max(32),
  key: z.string().max(128),
  value_sha256: hash,
  policy_sha256: hash,
})

const header = z.tuple([z.string().max(MAX_HEADER_TEXT), z.string().max(MAX_HEADER_TEXT)])

/** Headers and secrets are sorted, so that equal calls have equal digests. */
export const approvalCall = z
  .strictObject({
    v: z.literal(3),
    workspace_id: id,
    token_id: id,
    method: z.string().regex(/^[A-Z]{1,16}$/),
    target_url: z.string().max(MAX_URL),
    headers: z.array(header).max(MAX_HEADERS),
    body_sha256: hash.nullable(),
    secrets: z.array(usedSecret).min(1).max(MAX_APPROVED_SECRETS),
  })
  .refine(({ secrets }) => isInOrder(secrets))
  .refine(({ headers }) => hasCoveredHeaders(headers))

export type ApprovalCall = z.output<typeof approvalCall>

type Place = { project_id: string; environment: string; key: string }

/** Compares places in byte order. Their texts are ASCII. */
export function comparePlaces(one: Place, other: Place): number {
  const pairs = (['project_id', 'environment', 'key'] as const).map(
    (field) => [one[field], other[field]] as const,
  )
  const [a, b] = pairs.find(([x, y]) => x !== y) ?? ['', '']
  return a === b ? 0 : a < b ? -1 : 1
}

/** Whether places are in byte order, and each is listed once. */
export function isInOrder(places: readonly Place[]): boolean {
  return places.every((place, at) => {
    const before = places[at - 1]
    return before === undefined || comparePlaces(before, place) < 0
  })
}

/** Headers that clients and proxies change from one attempt to the next. */
const IGNORED = new Set([
  'user-agent',
  'date',
  'accept-encoding',
  'content-length',
  'traceparent',
  'tracestate',
  'baggage',
  'idempotency-key',
  'x-request-id',
  'x-client-request-id',
])
const IGNORED_PREFIXES = ['x-stainless-']

/** The headers that an approval covers: in lower case, sorted, without those that vary between attempts. */
export function listCoveredHeaders(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers)
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .filter((header) => !isIgnored(header))
    .sort(compareHeaders)
}

/** A header with a placeholder is covered under any name. */
function isIgnored([name, value]: readonly [string, string]): boolean {
  if (value.includes(PLACEHOLDER_PREFIX)) return false
  return IGNORED.has(name) || IGNORED_PREFIXES.some((prefix) => name.startsWith(prefix))
}

function compareHeaders(one: readonly string[], other: readonly string[]): number {
  const [a = '', b = ''] = one[0] === other[0] ? [one[1], other[1]] : [one[0], other[0]]
  return a === b ? 0 : a < b ? -1 : 1
}

function hasCoveredHeaders(headers: readonly [string, string][]): boolean {
  return headers.every(([name, value], at) => {
    const before = headers[at - 1]
    const isSorted = before === undefined || compareHeaders(before, [name, value]) <= 0
    return isSorted && name === name.toLowerCase() && !isIgnored([name, value])
  })
}
