/** A request for approval as a person reads it: all that will be sent, and who asks for it. */
import { findLongestWindow, type HeldUse } from '../../client/approvals/release.ts'
import type { VerifiedRequest } from '../../client/approvals/verify.ts'
import { comparePlaces } from '../../core/crypto/approval/call.ts'
import { printable } from '../../core/printable.ts'
import { formatRelativeTime } from '../terminal/moments.ts'
import { bodySize, callFacts } from './call_facts.ts'
import { type QuoteLimits, quoteText } from './quoted.ts'

const LABEL = 'secrets'.length + 2
/** Rows of a body and of a query, and of any other text. */
const MOST_ROWS = 40
const MOST_FIELD_ROWS = 4
/** A row that fills its terminal may be wrapped by it. */
const SPARE = 1
const DEFAULT_WIDTH = 80
const TOKEN_SUFFIX = 8
const WRITTEN = 'written by the agent:'

type Names = ReadonlyMap<string, string>
type View = { projects: Names; now: Date; width: number | undefined }

/**
 * Lines without control characters. Text from agents, members and the server is indented. Headers are those that the
 * approval covers, with the names of secrets in place of their values.
 */
export function requestLines(request: VerifiedRequest, { projects, now, width }: View): string[] {
  const { approval, call, reason } = request
  const url = new URL(call.target_url)
  const target = `${call.method} ${url.origin}${url.pathname}`
  const limits = {
    width: (width || DEFAULT_WIDTH) - LABEL - SPARE,
    most: MOST_FIELD_ROWS,
    more: `cloakroom approvals show ${approval.id} --json`,
  }
  const joinEach = (texts: readonly string[]) => texts.flatMap((text) => quoteText(text, limits))
  const expiry = `${formatRelativeTime(approval.requested_at, now)}, expires ${formatRelativeTime(approval.expires_at, now)}`
  const places = call.secrets.map((used) => secretLine(request, used, projects))
  return [
    ...field('call', quoteText(target, { ...limits, most: MOST_ROWS })),
    ...field('query', queryRows(url, limits)),
    ...field('headers', joinEach(call.headers.map(([name, value]) => `${name}: ${value}`))),
    ...field('body', bodyRows(request, limits)),
    ...field('secrets', joinEach(places)),
    ...field('agent', joinEach([approval.agent])),
    ...field('', [`The name is not signed. The token is …${tokenSuffix(request)}, labelled:`]),
    ...field('token', joinEach([request.grant.label])),
    ...field('reason', reason === null ? ['(none given)'] : [WRITTEN, ...joinEach([reason])]),
    ...field('asked', [expiry]),
    ...field('id', [approval.id]),
  ]
}

function tokenSuffix({ grant }: VerifiedRequest): string {
  return grant.token_id.slice(-TOKEN_SUFFIX)
}

function field(name: string, rows: readonly string[]): string[] {
  return rows.map((row, at) => `${(at === 0 ? name : '').padEnd(LABEL)}${printable(row)}`)
}

/** Decoded, and also as sent if that differs. */
function queryRows(url: URL, limits: QuoteLimits): string[] {
  if (url.search === '') return []
  const decoded = [...url.searchParams].map(([name, value]) => `${name} = ${value}`)
  const isEncoded = /[%+]/.test(url.search)
  const sent = isEncoded ? ['as sent:', ...quoteText(url.search, limits)] : []
  return [...quoteText(decoded.join('\n'), { ...limits, most: MOST_ROWS }), ...sent]
}

function bodyRows(request: VerifiedRequest, limits: QuoteLimits): string[] {
  const { call, body, approval } = request
  if (call.body_sha256 === null)
    return ['messages that cannot be shown in advance (a WebSocket or a gRPC stream)']
  const { body_bytes: bytes, body_type: type } = callFacts(request)
  if (bytes === 0) return ['none']
  const size = `${type ?? 'no type'}, ${bodySize(request)}`
  if (body === null) return [size, 'not shown (not text, or over 64 KiB)']
  const more = `cloakroom approvals show ${approval.id} --body`
  return [size, ...quoteText(body, { ...limits, most: MOST_ROWS, more })]
}

type Used = VerifiedRequest['call']['secrets'][number]

function secretLine({ held }: VerifiedRequest, used: Used, projects: Names): string {
  const place = `${used.key} in ${projects.get(used.project_id) ?? used.project_id}/${used.environment}`
  const needed = held.find((secret) => comparePlaces(secret, used) === 0)
  return needed ? `${place} (needs approval by ${approverOf(needed)})` : place
}

function approverOf({ by }: HeldUse): string {
  return by === 'admin' ? 'an admin' : 'a member'
}

/** A request for programs. Only verified data of the call is included. */
export function requestData(request: VerifiedRequest) {
  const { approval, call, body, reason, held } = request
  const { details: _, statement, signature, grant, ...stored } = approval
  const by = held.some((secret) => secret.by === 'admin') ? 'admin' : 'member'
  const shown = { ...stored, ...callFacts(request), verified: true }
  return { ...shown, call, body, reason, by, longest_window: findLongestWindow(held) }
}
