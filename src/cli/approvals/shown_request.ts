/** A request for approval as a person reads it: all that will be sent, and who asks for it. */
import { type HeldUse, longestWindow } from '../../client/approvals/release.ts'
import type { VerifiedRequest } from '../../client/approvals/verify.ts'
import { comparePlaces } from '../../core/crypto/approval/call.ts'
import { printable, printableLines } from '../../core/printable.ts'
import { relativeTime } from '../terminal/moments.ts'

/** Characters of a body that are shown with the request. */
const MAX_SHOWN = 4_096
const WIDEST = 'secrets'.length

type Names = ReadonlyMap<string, string>

/**
 * Lines without control characters. Host and path are ASCII, as they are sent; queries are decoded. Headers are those
 * that the approval covers, with the names of secrets in place of their values.
 */
export function requestLines(request: VerifiedRequest, projects: Names, now: Date): string[] {
  const { approval, call, reason, grant } = request
  const url = new URL(call.target_url)
  const token = `${approval.agent} (token ${grant.label})`
  const expiry = `${relativeTime(approval.requested_at, now)}, expires ${relativeTime(approval.expires_at, now)}`
  return [
    `${call.method} ${url.origin}${url.pathname}`,
    ...field(
      'query',
      [...url.searchParams].map(([name, value]) => `${name} = ${value}`),
    ),
    ...field(
      'headers',
      call.headers.map(([name, value]) => `${name}: ${value}`),
    ),
    ...field('body', bodyLines(request)),
    ...field(
      'secrets',
      call.secrets.map((used) => secretLine(request, used, projects)),
    ),
    ...field('agent', [token]),
    ...field('reason', [reason === null ? '(none given)' : `"${reason}" (written by the agent)`]),
    ...field('asked', [expiry]),
    ...field('id', [approval.id]),
  ]
}

function field(name: string, values: readonly string[]): string[] {
  return values.map((value, at) => {
    const label = (at === 0 ? name : '').padEnd(WIDEST)
    return `${label}  ${printable(value)}`
  })
}

function bodyLines({ approval, call, body }: VerifiedRequest): string[] {
  const { body_bytes: bytes, body_type: type } = approval
  if (call.body_sha256 === null)
    return ['not covered: the call opens a WebSocket or a gRPC stream, which may send anything']
  if (bytes === null || bytes === 0) return ['none']
  const size = `${type ?? 'no type'}, ${bytes.toLocaleString('en')} bytes`
  if (body === null) return [`${size}: not shown, because it is not text or has over 64 KiB`]
  const isLong = body.length > MAX_SHOWN
  const rest = isLong ? [`… the whole body: cloakroom approvals show ${approval.id} --body`] : []
  return [size, ...printableLines(body.slice(0, MAX_SHOWN)).split('\n'), ...rest]
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

/** The same for programs. */
export function requestData({ approval, call, body, reason, held }: VerifiedRequest) {
  const { details: _, statement, signature, grant, ...stored } = approval
  const by = held.some((secret) => secret.by === 'admin') ? 'admin' : 'member'
  return { ...stored, verified: true, call, body, reason, by, longest_window: longestWindow(held) }
}
