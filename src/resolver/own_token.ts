/**
 * Keeps a call's own token out of the request to the upstream (protocol 6.3): anyone with the token can act as the
 * agent. It searches for the secret part in the target, in names and values of headers, also in Basic credentials, in a
 * signature's options and in the body. A caller that encodes its token can still disclose it.
 */

import { Fault } from '../core/fault.ts'
import { beginningAtEndOf } from '../core/policy/partial_match.ts'
import type { Call, CallBody } from '../outbound/call.ts'

const BASIC = /^\s*basic +([A-Za-z0-9+/_-]+)/i
const ESCAPE = /%([0-9A-Fa-f]{2})/g

/** Returns the call, with a body that fails before the token's secret part. @throws Fault `invalid_header` */
export function withoutOwnToken(call: Call, sought: string): Call {
  const { targetUrl, headers, body, signing } = call
  const isIn = (text: string) => text.includes(sought)
  const lower = sought.toLowerCase()
  const isInName = (name: string) => name.toLowerCase().includes(lower)
  if (isIn(targetUrl) || isIn(unescapeText(targetUrl))) throw buildRepeatedFault('The target')
  for (const [name, value] of Object.entries(headers)) {
    if (isInName(name) || isIn(value) || isIn(credentialsIn(value)))
      throw buildRepeatedFault('A header')
  }
  const isSaid = (text = '') => isInName(text) || isIn(credentialsIn(text))
  if (Object.values(signing ?? {}).some(isSaid)) throw buildRepeatedFault('The signature')
  if (body === null) return call
  const checkFor = (place: string) => (bytes: Uint8Array) => {
    const { buffer, byteOffset, byteLength } = bytes
    if (Buffer.from(buffer, byteOffset, byteLength).includes(sought))
      throw buildRepeatedFault(place)
  }
  // Whole messages: the next one may depend on the response to this one, so its end cannot be held back.
  if (call.answer === 'grpc') return { ...call, checkMessage: checkFor('A message') }
  if (!('bytes' in body)) return { ...call, body: watchForToken(body, sought) }
  checkFor('The body')(body.bytes)
  return call
}

function unescapeText(text: string): string {
  if (!text.includes('%')) return text
  return text.replace(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function credentialsIn(value: string): string {
  const credentials = BASIC.exec(value)?.[1]
  return credentials === undefined ? '' : Buffer.from(credentials, 'base64').toString('latin1')
}

type Streamed = Extract<CallBody, { stream: unknown }>

/** Characters that cannot match by chance. A shorter match is sent: the client may wait for a response. */
const HELD_FROM = 8

/** Refuses a body that repeats the token. A possible beginning of the token is held back until the next bytes. */
function watchForToken({ stream, length }: Streamed, sought: string): CallBody {
  /** A possible beginning of the token, with first bytes that may already be sent. */
  let begun: Uint8Array = new Uint8Array()
  let gone = 0
  const transform = (
    chunk: Uint8Array,
    controller: TransformStreamDefaultController<Uint8Array>,
  ) => {
    const bytes = Buffer.concat([begun, chunk])
    if (bytes.includes(sought)) return controller.error(buildRepeatedFault('The body'))
    const kept = beginningAtEndOf(bytes, sought)
    const start = bytes.length - kept
    const end = Math.max(gone, kept < HELD_FROM ? bytes.length : start)
    if (end > gone) controller.enqueue(bytes.subarray(gone, end))
    begun = new Uint8Array(bytes.subarray(start))
    gone = end - start
  }
  const flush = (controller: TransformStreamDefaultController<Uint8Array>) => {
    if (begun.length > gone) controller.enqueue(begun.subarray(gone))
  }
  return { stream: stream.pipeThrough(new TransformStream({ transform, flush })), length }
}

function buildRepeatedFault(place: string): Fault {
  const message = `${place} contains the token, which would reach the API.`
  return new Fault('invalid_header', { message })
}
