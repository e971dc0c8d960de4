/**
 * Tickets for tokens. An API issues a token for a signed text, and that token is as powerful as the credential for an
 * hour. The client gets a ticket instead: the placeholder, followed by the token sealed with a key of the credential. A
 * ticket in a header becomes the token, if the credential's policy allows it. A ticket alone is useless (protocol 6.5).
 */
import { randomBytes } from 'node:crypto'
import { fromUtf8, utf8 } from '../../core/crypto/encoding.ts'
import { hkdf, NONCE_BYTES, openGcm, sealGcm } from '../../core/crypto/primitives.ts'
import { Fault } from '../../core/fault.ts'
import { PLACEHOLDER_PREFIX } from '../../core/names/secret_name.ts'

/** Follows the name. All of it is base64url, because clients decode the third part of an ID token. */
const MARK = '-ticket-'
export const TICKET_PATTERN = `${MARK}([A-Za-z0-9_-]{40,16384})`

/** Returns a placeholder with the sealed token. */
export function ticketFor(name: string, key: Uint8Array, sealed: string): string {
  const place = `${PLACEHOLDER_PREFIX}${name}${MARK}`
  const ticket = (text: string) => place + seal(name, key, text)
  const made = ticket(sealed)
  // No bytes encode to 4n+1 characters of base64.
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
  const text = fromUtf8(openGcm(ticketKey(value), nonce, utf8(name), sealed) ?? new Uint8Array())
  if (text) return utf8(text.trimEnd())
  throw new Fault('unusable_secret', {
    message: `The ticket does not fit the current value of the secret ${name}: request a new token.`,
  })
}

/** The key of a secret's tickets. */
export function ticketKey(value: Uint8Array): Uint8Array {
  return hkdf(value, new Uint8Array(), 'cloakroom/v1/ticket')
}
