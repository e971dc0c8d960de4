/** Headers of an answer that are ours, and those that an upstream must not send under our name. */
import { headersWith } from '../../http/reply.ts'
import { droppedHeaders } from '../headers.ts'
import type { ReceivedHeaders } from './part.ts'

/** These speak about the origin that they come from, which for the caller is the resolver. */
const OF_THE_ORIGIN = ['alt-svc', 'clear-site-data', 'strict-transport-security']

/** Names what an answer has lost. */
export function droppedHeader(received: ReceivedHeaders): Record<string, string> {
  const dropped = droppedHeaders(received)
  return dropped.length === 0 ? {} : { 'x-service-dropped': dropped.join(', ') }
}

/**
 * Whether nothing proves that all of a body came: it has neither a length nor chunks, and ends with its connection
 * (RFC 9112, section 8). The runtime cannot tell a connection that was closed by its peer from one that was cut.
 */
export function isLengthUnproven({ body, status }: Response, received: ReceivedHeaders): boolean {
  if (body === null || status === 204 || status === 304) return false
  return received['content-length'] === undefined && !received['transfer-encoding']
}

/** Says so for programs. */
export function lengthHeader(
  response: Response,
  received: ReceivedHeaders,
): Record<string, string> {
  return isLengthUnproven(response, received) ? { 'x-service-length': 'unproven' } : {}
}

/** SDKs report the upstream's `x-request-id`; ours, the id of the audit record, has a name besides. */
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

/** An upstream must not pass for the resolver, whose names begin so, or speak about its origin. */
export function dropForeign(presented: Record<string, string>): void {
  for (const name in presented) if (name.startsWith('x-service-')) delete presented[name]
  for (const name of OF_THE_ORIGIN) delete presented[name]
}
