/**
 * Signs a request for AWS again with the real key, after a client signed it with an access key's stand-in or
 * placeholder (protocol 6.5). The old signature is ignored: scope, date, signed headers and the payload's hash are the
 * client's, all other parts are those of the sent request. The host is always signed, so that the signature is valid
 * nowhere else.
 */
import { Fault } from '../../core/fault.ts'
import type { Secret } from '../../core/secret.ts'
import {
  type AwsSigningKey,
  authorizationOf,
  buildCanonicalRequest,
  deriveSigningKey,
  formsOf,
  isStorage,
  sha256Hex,
  textToSign,
  toCanonicalHeaders,
} from '../../core/signing/aws_sigv4.ts'
import { bytesOf, type Call, type CallBody } from '../call.ts'
import type { HeaderPair } from '../headers.ts'
import type { Target } from '../target.ts'
import { resignChunks, type Seed } from './aws_chunks.ts'
import {
  type AwsSignature,
  awsSignatureIn,
  CHUNKED,
  cut,
  HASH,
  usesOfAws,
} from './aws_signature.ts'
import { deriveSigningKey4a } from './aws_sigv4a.ts'
import type { ResignedRequest, Signature, Unsigned } from './client_signature.ts'
import { accessKeyIdIn, type RoleKeys, roleKeysIn } from './role_keys.ts'
import { bytesIn, textIn } from './signature.ts'

export function awsSignature({ headers }: Call, { search }: Target): Signature | null {
  const signature = awsSignatureIn(headers, search)
  return (
    signature && {
      place: signature.place,
      uses: usesOfAws(signature),
      ranges: isStorage(signature.service) ? ['range'] : [],
      sign: (request, values) => signAgain(signature, request, values),
    }
  )
}

/** @throws Fault `unusable_secret` for an id or token that cannot be sent */
export function signAgain(
  signature: AwsSignature,
  request: Unsigned,
  values: ReadonlyMap<string, Secret>,
): ResignedRequest {
  const { key, sent, signed, presented, payload, text } = describeSigned(signature, request, values)
  const isHeader = signature.place === 'header'
  const made = key.sign(text)
  const id = accessKeyIdIn(values, signature.id)
  const authorization = authorizationOf(id, key, signed, made)
  return {
    headers: isHeader ? [...sent, ['authorization', authorization]] : sent,
    search: isHeader ? presented : `${presented}&X-Amz-Signature=${made}`,
    body: CHUNKED.test(payload)
      ? signInChunks(request.body, key, {
          stamp: signature.stamp,
          signature: made,
          declared: trailersIn(sent),
        })
      : request.body,
    signatures: formsOf(made).map((bytes) => ({ name: signature.key, bytes })),
  }
}

/** Whether the client signed this request, with these values. */
export function isSignedSo(
  signature: AwsSignature,
  request: Unsigned,
  values: ReadonlyMap<string, Secret>,
): boolean {
  const { key, text } = describeSigned(signature, request, values)
  return key.verifies(text, signature.made)
}

/** The canonical parts of a request, and the text to sign. */
function describeSigned(
  signature: AwsSignature,
  request: Unsigned,
  values: ReadonlyMap<string, Secret>,
) {
  const { id, service, stamp, token } = signature
  const role = roleIn(signature, values)
  const key = keyOf(signature, values)
  const payload = payloadOf(signature, request.body)
  const isHeader = signature.place === 'header'
  const own = role ? /^(authorization|x-amz-security-token)$/i : /^authorization$/i
  const headers = request.headers.filter(([name]) => !(isHeader && own.test(name)))
  if (role) headers.push([SESSION_TOKEN, role.revealSessionToken()])
  const sent = headers.map(
    ([name, value]): HeaderPair => [name, /^x-amz-content-sha256$/i.test(name) ? payload : value],
  )
  const signed = toCanonicalHeaders([['host', request.authority], ...sent]).filter(
    ([name]) =>
      name === 'host' || signature.signedHeaders.includes(name) || (role && name === SESSION_TOKEN),
  )
  const presented = isHeader
    ? request.search
    : buildPresignedQuery(request.search, {
        'X-Amz-Credential': `${accessKeyIdIn(values, id)}/${key.scope}`,
        'X-Amz-SignedHeaders': signed.map(([name]) => name).join(';'),
        ...(token === null ? {} : { 'X-Amz-Security-Token': textIn(values, token) }),
      })
  const canonical = buildCanonicalRequest(
    service,
    { ...request, search: presented },
    signed,
    payload,
  )
  return { key, sent, signed, presented, payload, text: textToSign(key, stamp, canonical) }
}

const SESSION_TOKEN = 'x-amz-security-token'

/** @throws Fault `invalid_header` for a name that is neither a role nor the ID of a key */
function roleIn({ id, key }: AwsSignature, values: ReadonlyMap<string, Secret>): RoleKeys | null {
  const role = roleKeysIn(values, id)
  if (role || key !== id) return role
  throw new Fault('invalid_header', {
    message: `The name of the secret ${id} does not identify its secret key. Name it …ACCESS_KEY_ID, and the key …SECRET_ACCESS_KEY.`,
  })
}

function keyOf(
  { id, key, day, region, service }: AwsSignature,
  values: ReadonlyMap<string, Secret>,
): AwsSigningKey {
  const secretAccessKey = bytesIn(values, key)
  if (region !== null) return deriveSigningKey({ secretAccessKey, region, service }, day)
  return deriveSigningKey4a(
    accessKeyIdIn(values, id),
    secretAccessKey,
    `${day}/${service}/aws4_request`,
  )
}

/** Values may have been inserted into a buffered body after the client hashed it. */
function payloadOf({ payload }: AwsSignature, body: CallBody): string {
  if (payload !== null && !HASH.test(payload)) return payload
  if (payload !== null && body !== null && bytesOf(body) === null) return payload
  return sha256Hex(bytesOf(body) ?? '')
}

function trailersIn(headers: readonly HeaderPair[]): string[] {
  const [, names = ''] = headers.find(([name]) => /^x-amz-trailer$/i.test(name)) ?? []
  return names.toLowerCase().match(/[^\s,]+/g) ?? []
}

function signInChunks(body: CallBody, key: AwsSigningKey, seed: Seed): CallBody {
  if (body === null) return null
  if (!('bytes' in body)) {
    const { stream, length } = body
    return { stream: stream.pipeThrough(resignChunks(key, seed)), length }
  }
  const { bytes } = body
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream()
  return { stream: stream.pipeThrough(resignChunks(key, seed)), length: bytes.length }
}

/** The current query without its signature. */
function buildPresignedQuery(search: string, values: Record<string, string>): string {
  const kept = search
    .slice(1)
    .split('&')
    .filter((parameter) => !parameter.startsWith('X-Amz-Signature='))
  const changed = kept.map((parameter) => {
    const [name] = cut(parameter)
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    return value === undefined ? parameter : `${name}=${encodeURIComponent(value)}`
  })
  return `?${changed.join('&')}`
}
