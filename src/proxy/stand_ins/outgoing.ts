/**
 * Replaces a program's stand-ins by placeholders, only at places where a placeholder is allowed. The call then treats
 * them like any other placeholder.
 */

import type { BodyAccount } from '../../core/body_memory.ts'
import { fromUtf8 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import { PLACEHOLDER_PREFIX, SECRET_NAME } from '../../core/names/secret_name.ts'
import { Secret } from '../../core/secret.ts'
import { isStorage } from '../../core/signing/aws_sigv4.ts'
import { readCapped } from '../../http/capped_body.ts'
import { BODY_LIMIT } from '../../outbound/call.ts'
import { basicIn, changeTexts } from '../../outbound/encoded_headers.ts'
import { isGrpcCall } from '../../outbound/grpc/frames.ts'
import { styleOfBody } from '../../outbound/injection/locations.ts'
import { isSignedSo } from '../../outbound/signing/aws_resign.ts'
import { awsSignatureIn } from '../../outbound/signing/aws_signature.ts'
import { mayHoldAssertion } from '../../outbound/signing/google_assertion.ts'
import { TICKET_PATTERN } from '../../outbound/signing/tickets.ts'
import type { Inbound } from '../backend.ts'
import { readDeclaredLength } from '../request.ts'
import type { StandInForm, StandIns } from './stand_ins.ts'

export type Outgoing = {
  inbound: Inbound
  /** Names that the program itself wrote, as placeholders: it has these and not their stand-ins. */
  named: ReadonlySet<string>
  /** The base64 of its Basic credentials. */
  basic: string | null
}

/** Excludes tickets, which a program received: it did not write their names. */
const PLACEHOLDER = new RegExp(
  `${PLACEHOLDER_PREFIX}(${SECRET_NAME})(?![A-Za-z0-9_]|${TICKET_PATTERN})`,
  'g',
)
/** Matches the key's name in a URL signed for AWS, which is signed again (`outbound/signing/aws_signature.ts`). */
const SIGNER = /(?<=[?&](?:X-Amz-Credential|X-Amz-Security-Token|AWSAccessKeyId)=)[^&]*/g
const SIGNATURE = /(?<=[?&]sig=)[^&]*/

/**
 * @param account counts the body while it is buffered
 * @throws Fault `payload_too_large`, `unavailable` if bodies hold too much memory, `invalid_target` if a signed text
 *   arrived changed
 */
export async function rewriteOutgoing(
  inbound: Inbound,
  standIns: StandIns,
  account: BodyAccount,
): Promise<Outgoing> {
  const named = new Set<string>()
  const replace = (text: string, form: StandInForm, location: string | null) => {
    for (const [, name = ''] of text.matchAll(PLACEHOLDER)) named.add(name)
    const placeable = standIns.all.filter(({ locations }) =>
      location === null ? true : locations.has(location),
    )
    return standIns.replaceNested(text, form, placeable)
  }
  const { request, pathAndQuery } = inbound
  const sent = { headers: new Headers(request.headers), pathAndQuery }
  for (const [name, value] of [...request.headers]) {
    const isBasic = name === 'authorization'
    const replaced = replaceInHeader(name, value, (text, encoded) => {
      const exact = replace(text, 'exact', null)
      // OAuth clients form-encode the user name and password of Basic credentials.
      return encoded && isBasic ? standIns.replaceAll(exact, 'escaped') : exact
    })
    if (replaced !== value) request.headers.set(name, replaced)
  }
  const [, path = '', written = ''] = /^([^?]*)(.*)$/s.exec(pathAndQuery) ?? []
  const search = written.replace(SIGNER, (value) => replace(value, 'escaped', null))
  const signed = standIns.signers.replaceSigned(inbound, sent)
  if (signed.authorization) request.headers.set('authorization', signed.authorization)
  const replaced =
    replace(path, 'escaped', 'path') +
    replace(search, 'escaped', 'query').replace(SIGNATURE, signed.query ?? '$&')
  const { headers } = request
  checkSignedPath(inbound, sent, { headers, pathAndQuery: replaced }, standIns)
  const whole = await withBody(request, standIns, replace, account)
  return {
    inbound: { ...inbound, pathAndQuery: replaced, request: whole },
    named,
    basic: basicIn(sent.headers.get('authorization') ?? ''),
  }
}

type Replace = (text: string, form: StandInForm, location: string | null) => string

/** Replaces stand-ins in a header, also in decoded Basic credentials and binary metadata. */
function replaceInHeader(
  name: string,
  value: string,
  replace: (text: string, isEncoded: boolean) => string,
): string {
  return changeTexts(name, value, ({ text, encoded }) => {
    const replaced = replace(text, encoded !== null)
    if (replaced === text) return null
    return encoded ? encoded.encode(Buffer.from(replaced, encoded.charset)) : replaced
  })
}

/** Reads a body whole only if its type is one in which some policy allows a value. */
async function withBody(
  request: Request,
  standIns: StandIns,
  replace: Replace,
  account: BodyAccount,
): Promise<Request> {
  const { method, headers, signal } = request
  const place = isGrpcCall(request) ? null : placeOf(headers.get('content-type'))
  const mayAssert = mayHoldAssertion(request) && standIns.signers.haveAccounts
  const isSought =
    place && (mayAssert || standIns.all.some(({ locations }) => locations.has(place.location)))
  if (!isSought || request.body === null) return request
  const message = `The request body may have at most ${BODY_LIMIT} bytes, unless it streams.`
  const buildTooLargeFault = () => new Fault('payload_too_large', { message })
  const declared = readDeclaredLength(request)
  if (Number(declared) > BODY_LIMIT) return request
  const meter = account.expect(declared)
  const bytes = await readCapped(request.body, BODY_LIMIT, buildTooLargeFault, meter)
  const text = fromUtf8(bytes)
  const replaced = text === null ? null : replace(text, place.form, place.location)
  const body = Buffer.from(
    (mayAssert && replaced ? standIns.signers.replaceInForm(replaced) : replaced) ?? bytes,
  )
  headers.set('content-length', String(body.length))
  return new Request(request.url, { method, headers, signal, body })
}

function placeOf(contentType: string | null): { form: StandInForm; location: string } | null {
  const location = styleOfBody(contentType)
  return location && { form: location === 'form' ? 'escaped' : 'json', location }
}

type Sent = Pick<Inbound, 'pathAndQuery'> & { headers: Headers }

/**
 * Refuses a signed path that the runtime has changed. It resolves `.` and `..`, which S3 takes as parts of a name:
 * another object's request would be signed. The client's signature with the stand-in reveals that.
 *
 * @param sent as the program wrote it; `replaced` has placeholders
 * @throws Fault `invalid_target` for a path that differs from the signed one
 */
function checkSignedPath(inbound: Inbound, sent: Sent, replaced: Sent, all: StandIns): void {
  const signature = awsSignatureIn(Object.fromEntries(replaced.headers), searchOf(replaced))
  // With a base URL the program signs for another host and path.
  if (!signature || !isStorage(signature.service) || inbound.linkBase !== null) return
  const names = [signature.id, signature.key, ...(signature.token ? [signature.token] : [])]
  const known = names.flatMap((name) => all.of(name) ?? [])
  if (known.length < names.length) return
  const values = new Map(known.map(({ name, text }) => [name, new Secret(Buffer.from(text))]))
  const search = searchOf(sent)
  const path = sent.pathAndQuery.slice(0, sent.pathAndQuery.length - search.length)
  const headers = [...sent.headers].filter(([name]) => name !== 'host')
  const { method } = inbound.request
  // The client states its hash.
  const body = { stream: new ReadableStream<Uint8Array>(), length: null }
  const request = { method, authority: inbound.authority, path, search, headers, body }
  if (isSignedSo(signature, request, values)) return
  throw new Fault('invalid_target', {
    message:
      'The request differs from the signed one: object names with . or .. as a segment cannot be sent.',
  })
}

function searchOf({ pathAndQuery }: Pick<Sent, 'pathAndQuery'>): string {
  return pathAndQuery.replace(/^[^?]*/, '')
}
