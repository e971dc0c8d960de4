/** Headers that the resolver adds to an answer, and those that an upstream must not send in its place. */
import { headersWith } from '../../http/reply.ts'
import { listDroppedHeaders } from '../headers.ts'
import type { ReceivedHeaders } from './part.ts'

/** Headers about the origin, which for the caller is the resolver. */
const OF_THE_ORIGIN = ['alt-svc', 'clear-site-data', 'strict-transport-security']

/** Names the headers that were removed from an answer. */
export function nameDroppedHeaders(received: ReceivedHeaders): Record<string, string> {
  const dropped = listDroppedHeaders(received)
  return dropped.length === 0 ? {} : { 'x-service-dropped': dropped.join(', ') }
}

/**
 * Whether nothing proves a complete body: it has neither a length nor chunks, and ends with its connection (RFC 9112,
 * section 8). The runtime cannot distinguish a connection that its peer closed from one that broke.
 */
export function isLengthUnproven({ body, status }: Response, received: ReceivedHeaders): boolean {
  if (body === null || status === 204 || status === 304) return false
  return received['content-length'] === undefined && !received['transfer-encoding']
}

/** Reports it to programs. */
export function lengthHeader(
  response: Response,
  received: ReceivedHeaders,
): Record<string, string> {
  return isLengthUnproven(response, received) ? { 'x-service-length': 'unproven' } : {}
}

/** Adds the audit record's id under another name, because SDKs report the upstream's `x-request-id`. */
export function completeHeaders(
  presented: Record<string, string>,
  requestId: string,
  notes: Record<string, string> = {},
): Headers {
  dropForeign(presented)
  const headers = headersWith(requestId, presented)
  headers.set('x-service-request-id', requestId)
  for (const name in notes) headers.set(name, notes[name] ?? '')
  return headers
}

/** An upstream must not impersonate the resolver, whose headers have this prefix, or set headers for its origin. */
export function dropForeign(presented: Record<string, string>): void {
  for (const name in presented) if (name.startsWith('x-service-')) delete presented[name]
  for (const name of OF_THE_ORIGIN) delete presented[name]
}
