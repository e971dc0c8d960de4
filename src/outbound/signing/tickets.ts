/**
 * An API hands out a token for what was signed with a credential, and that token is as good as the credential
 * for an hour. The client gets a ticket in its place: the token, sealed under a key of the credential, behind its
 * placeholder. Where a ticket stands in a header it becomes the token, if the credential's policy lets it; who
 * has a ticket alone, has nothing (protocol 6.5).
 */
import { randomBytes } from 'node:crypto'
import type { MadeBytes } from '../../leak_guard/index.ts'
import { type Bytes, fromUtf8, utf8 } from '../../platform/crypto/encoding.ts'
import { hkdf, NONCE_BYTES, openGcm, sealGcm } from '../../platform/crypto/primitives.ts'
import { Fault } from '../../platform/fault.ts'
import { readCapped } from '../../platform/http/capped_body.ts'
import { PLACEHOLDER_PREFIX } from '../../platform/secret_name.ts'
import { checkFraming } from '../answer/response.ts'
import { upstreamFault } from '../connection/fetch.ts'

/** What follows the name; all of it is base64url, since clients decode the third part of an ID token. */
const MARK = '-ticket-'
export const TICKET_PATTERN = `${MARK}([A-Za-z0-9_-]{40,16384})`
const MEMBERS = ['access_token', 'id_token', 'refresh_token']
const MAX_ANSWER = 65_536
/** A shorter text is no token, and may be a word of the answer. */
const MIN_GUARDED = 8
const JSON_WEB_TOKEN = /^([\w-]+\.[\w-]+\.)([\w-]+)$/

/** Receives what a guard must find besides: the tokens that were taken out of an answer. */
export type GuardToken = (token: MadeBytes) => void

/**
 * Takes the tokens out of an answer, and has `guardToken` know each: an API may repeat one in another member or a
 * header.
 *
 * @throws Fault `upstream_protocol_error`, `upstream_too_large`
 */
export function ticketsFor(name: string, value: Uint8Array) {
  const key = keyOf(value)
  return async (response: Response, guardToken: GuardToken = () => {}): Promise<Response> => {
    const { status, headers } = response
    checkFraming(status, headers.toJSON())
    const body = await readCapped(response.body, MAX_ANSWER, tooLarge).catch((error) => {
      throw upstreamFault(error)
    })
    const written = withTickets(body, (token) => {
      const { before, sealed } = partsOf(token)
      if (sealed.length >= MIN_GUARDED) {
        guardToken({ name, bytes: utf8(sealed), hasFragments: true })
      }
      return before + ticketFor(name, key, sealed)
    })
    // A token that is not found would get through.
    if (written === null && response.ok) throw new Fault('upstream_protocol_error')
    const kept = new Headers(headers)
    for (const framing of ['content-length', 'transfer-encoding']) kept.delete(framing)
    return new Response(written ?? (body.length > 0 ? (body as Bytes) : null), {
      status,
      headers: kept,
    })
  }
}

function tooLarge(): Fault {
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

/** Of a JSON Web Token the signature alone is sealed: its claims are for the client to read. */
function partsOf(token: string): { before: string; sealed: string } {
  const [, before = '', sealed = token] = JSON_WEB_TOKEN.exec(token) ?? []
  return { before, sealed }
}

function ticketFor(name: string, key: Uint8Array, sealed: string): string {
  const place = `${PLACEHOLDER_PREFIX}${name}${MARK}`
  const ticket = (text: string) => place + seal(name, key, text)
  const made = ticket(sealed)
  // Of 4n+1 characters of base64 there is no text.
  return made.length % 4 === 1 ? ticket(`${sealed} `) : made
}

function seal(name: string, key: Uint8Array, text: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const sealed = sealGcm(key, nonce, utf8(name), utf8(text))
  return Buffer.concat([nonce, sealed]).toString('base64url')
}

/** @throws Fault `unusable_secret` for a ticket that was not made with this value */
export function openTicket(name: string, value: Uint8Array, ticket: string): Uint8Array {
  const bytes = Buffer.from(ticket, 'base64url')
  const [nonce, sealed] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES)]
  const text = fromUtf8(openGcm(keyOf(value), nonce, utf8(name), sealed) ?? new Uint8Array())
  if (text) return utf8(text.trimEnd())
  throw new Fault('unusable_secret', {
    message: `The ticket is not one of the secret ${name} as it is now: ask for a new token.`,
  })
}

function keyOf(value: Uint8Array): Uint8Array {
  return hkdf(value, new Uint8Array(), 'cloakroom/v1/ticket')
}
