/** A response that issues tokens for a signature: the client gets a ticket for each (`tickets.ts`). */
import { type Bytes, fromUtf8, utf8 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import { readCapped } from '../../http/capped_body.ts'
import { checkFraming } from '../answer/response.ts'
import { upstreamFault } from '../connection/fetch.ts'
import type { GuardToken } from './client_signature.ts'
import { ticketFor, ticketKey } from './tickets.ts'

const MEMBERS = ['access_token', 'id_token', 'refresh_token']
const MAX_ANSWER = 65_536
/** Shorter text is not a token, and may be an ordinary word. */
const MIN_GUARDED = 8
const JSON_WEB_TOKEN = /^([\w-]+\.[\w-]+\.)([\w-]+)$/

/**
 * Replaces each token in an answer by a ticket, and passes it to `guardToken`: an API may repeat a token in another
 * member or a header.
 *
 * @throws Fault `upstream_protocol_error`, `upstream_too_large`
 */
export function ticketsFor(name: string, value: Uint8Array) {
  const key = ticketKey(value)
  return async (response: Response, guardToken: GuardToken = () => {}): Promise<Response> => {
    const { status, headers } = response
    checkFraming(status, headers.toJSON())
    const body = await readCapped(response.body, MAX_ANSWER, buildTooLargeFault).catch((error) => {
      throw upstreamFault(error)
    })
    const written = withTickets(body, (token) => {
      const { before, sealed } = partsOf(token)
      if (sealed.length >= MIN_GUARDED) {
        guardToken({ name, bytes: utf8(sealed), hasFragments: true })
      }
      return before + ticketFor(name, key, sealed)
    })
    // A token that is not found would reach the client.
    if (written === null && response.ok) throw new Fault('upstream_protocol_error')
    const kept = new Headers(headers)
    for (const framing of ['content-length', 'transfer-encoding']) kept.delete(framing)
    return new Response(written ?? (body.length > 0 ? (body as Bytes) : null), {
      status,
      headers: kept,
    })
  }
}

function buildTooLargeFault(): Fault {
  return new Fault('upstream_too_large')
}

function withTickets(body: Uint8Array, ticketOf: (token: string) => string): string | null {
  try {
    const answer = JSON.parse(fromUtf8(body) ?? '')
    if (typeof answer !== 'object' || answer === null) return null
    return JSON.stringify(answer, (member, value) =>
      MEMBERS.includes(member) && typeof value === 'string' ? ticketOf(value) : value,
    )
  } catch {
    return null
  }
}

/** Only the signature of a JSON Web Token is sealed, because the client reads the claims. */
function partsOf(token: string): { before: string; sealed: string } {
  const [, before = '', sealed = token] = JSON_WEB_TOKEN.exec(token) ?? []
  return { before, sealed }
}
