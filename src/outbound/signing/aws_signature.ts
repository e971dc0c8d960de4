/**
 * Reads an AWS signature that a client made with an access key's stand-in or placeholder from its request (protocol
 * 6.5). The old signature itself is ignored.
 */
import { Fault } from '../../core/fault.ts'
import { PLACEHOLDER_PREFIX, SECRET_NAME } from '../../core/names/secret_name.ts'
import { ALGORITHM, isStorage } from '../../core/signing/aws_sigv4.ts'
import { ALGORITHM_4A } from './aws_sigv4a.ts'
import { type SigningUse, sessionTokenUse } from './sign.ts'
import { headerOf } from './signature.ts'

/** The details of a client's signature, by names of secrets. */
export type AwsSignature = {
  place: 'header' | 'query'
  id: string
  key: string
  /** The session token of a presigned URL; in a header it is a placeholder like any other. */
  token: string | null
  day: string
  /** Null in Signature Version 4A, with regions in a header or parameter. */
  region: string | null
  service: string
  stamp: string
  signedHeaders: readonly string[]
  /** The payload hash that the client states, if any. */
  payload: string | null
  /** In hexadecimal, as sent by the client. */
  made: string
}

type Headers = Readonly<Record<string, string>>

const REFERENCE = `${PLACEHOLDER_PREFIX}(${SECRET_NAME})`
const CREDENTIAL = new RegExp(
  `^${REFERENCE}/(\\d{8})/(?:([A-Za-z0-9-]{1,64})/)?([A-Za-z0-9-]{1,64})/aws4_request$`,
)
type Algorithm = typeof ALGORITHM | typeof ALGORITHM_4A
const SIGNED = /^AWS4?(-[A-Z0-9-]+)?\s/i
const STAMP = /^\d{8}T\d{6}Z$/
export const HASH = /^[0-9a-f]{64}$/i
export const CHUNKED = /^STREAMING-AWS4-HMAC-SHA256-PAYLOAD(-TRAILER)?$/
const OTHER =
  /^(AWS|AWSAccessKeyId|STREAMING-AWS4-(HMAC-SHA256|ECDSA-P256-SHA256)-(PAYLOAD(-TRAILER)?|EVENTS))$/
const AS_IT_IS = /^(UNSIGNED-PAYLOAD|STREAMING-UNSIGNED-PAYLOAD-TRAILER)$/

/**
 * The signature of a request, if it was made with a placeholder.
 *
 * @throws Fault `invalid_header`, `invalid_target` for one that cannot be made again
 */
export function awsSignatureIn(headers: Headers, search: string): AwsSignature | null {
  const authorization = headerOf(headers, 'authorization') ?? ''
  if (SIGNED.test(authorization) && authorization.includes(PLACEHOLDER_PREFIX)) {
    return readFromHeader(headers, authorization)
  }
  return search.includes(PLACEHOLDER_PREFIX) ? readFromQuery(headers, search) : null
}

/** Whether the body must be read whole, because the client does not state its hash. */
export function needsWholeBody(headers: Headers, search: string): boolean {
  const signature = awsSignatureIn(headers, search)
  return signature !== null && signature.payload === null
}

/** Whether an S3 client signed the request, with any key. It expects errors in XML. */
export function isSignedForStorage(headers: Headers, search: string): boolean {
  const authorization = headerOf(headers, 'authorization') ?? ''
  if (/^AWS4-/i.test(authorization)) return /\/s3[a-z-]*\/aws4_request/.test(authorization)
  return (
    /^AWS /.test(authorization) || /%2Fs3[a-z-]*%2Faws4_request|[?&]AWSAccessKeyId=/i.test(search)
  )
}

/** A presigned URL contains the access key ID unencoded, so its place is the query. */
export function usesOfAws({ place, id, key, token }: AwsSignature): SigningUse[] {
  const toSigningUse = (name: string): SigningUse => ({
    name,
    style: 'aws_sigv4',
    header: 'authorization',
  })
  const shown: SigningUse =
    place === 'query' ? { name: id, style: 'query', header: '' } : toSigningUse(id)
  const keys = key === id ? [shown] : [shown, toSigningUse(key)]
  return token === null ? keys : [...keys, sessionTokenUse(token, 'query')]
}

function readFromHeader(headers: Headers, authorization: string): AwsSignature {
  const [, algorithm, rest = ''] = /^(\S+)\s+(.*)$/s.exec(authorization) ?? []
  if (!isKnown(algorithm)) throw buildUnsupportedFault('invalid_header', algorithm ?? '')
  const fields = new Map(rest.split(',').map((field) => cut(field.trim())))
  const payload = headerOf(headers, 'x-amz-content-sha256')
  return signatureFrom('invalid_header', {
    place: 'header',
    algorithm,
    made: fields.get('Signature') ?? '',
    credential: fields.get('Credential'),
    names: fields.get('SignedHeaders'),
    stamp: headerOf(headers, 'x-amz-date'),
    token: null,
    payload: payload?.trim() ?? null,
  })
}

function readFromQuery(headers: Headers, search: string): AwsSignature | null {
  const parameters = new Map(parametersOf(search))
  const isOlder = parameters.get('AWSAccessKeyId')?.startsWith(PLACEHOLDER_PREFIX)
  if (isOlder) throw buildUnsupportedFault('invalid_target', 'AWSAccessKeyId')
  const credential = parameters.get('X-Amz-Credential')
  if (!credential?.startsWith(PLACEHOLDER_PREFIX)) return null
  const algorithm = parameters.get('X-Amz-Algorithm') ?? ''
  if (!isKnown(algorithm)) throw buildUnsupportedFault('invalid_target', algorithm)
  const [, token = null] =
    new RegExp(`^${REFERENCE}$`).exec(parameters.get('X-Amz-Security-Token') ?? '') ?? []
  const payload = headerOf(headers, 'x-amz-content-sha256')
  const signature = signatureFrom('invalid_target', {
    place: 'query',
    algorithm,
    made: parameters.get('X-Amz-Signature') ?? '',
    credential,
    names: parameters.get('X-Amz-SignedHeaders'),
    stamp: parameters.get('X-Amz-Date'),
    token,
    payload: payload?.trim() ?? parameters.get('X-Amz-Content-Sha256') ?? null,
  })
  const isUnsigned = signature.payload === null && isStorage(signature.service)
  return isUnsigned ? { ...signature, payload: 'UNSIGNED-PAYLOAD' } : signature
}

type Found = Pick<AwsSignature, 'place' | 'token' | 'payload' | 'made'> & {
  algorithm: Algorithm
  credential: string | undefined
  names: string | undefined
  stamp: string | undefined
}

function signatureFrom(
  code: 'invalid_header' | 'invalid_target',
  { place, algorithm, token, payload, made, credential, names, stamp }: Found,
): AwsSignature {
  const [, id = '', day = '', region = null, service = ''] = CREDENTIAL.exec(credential ?? '') ?? []
  const isScope = id !== '' && (region === null) === (algorithm === ALGORITHM_4A)
  const isWhole = isScope && stamp !== undefined && STAMP.test(stamp) && stamp.startsWith(day)
  if (!isWhole || names === undefined) {
    throw new Fault(code, {
      message: 'The AWS signature is invalid, so the request cannot be signed again.',
    })
  }
  const known = region === null ? [HASH, AS_IT_IS] : [HASH, AS_IT_IS, CHUNKED]
  if (payload !== null && !known.some((kind) => kind.test(payload))) {
    throw buildUnsupportedFault(code, payload)
  }
  const scope = { id, key: keyFor(id), token, day, region, service, stamp }
  return { place, ...scope, signedHeaders: names.toLowerCase().split(';'), payload, made }
}

/**
 * The name of the secret key that belongs to the name of its id: `AWS_ACCESS_KEY_ID` and
 * `AWS_SECRET_ACCESS_KEY`, `ACCESS_KEY` and `SECRET_KEY`, with any text before and after. Any other name is an AWS role, which has no second name.
 */
export function keyFor(id: string): string {
  const key = id.replace(/ACCESS_KEY_ID(?!.*ACCESS_KEY_ID)/, 'SECRET_ACCESS_KEY')
  return key === id ? id.replace(/ACCESS_KEY(?!.*ACCESS_KEY)/, 'SECRET_KEY') : key
}

function isKnown(algorithm: string | undefined): algorithm is Algorithm {
  return algorithm === ALGORITHM || algorithm === ALGORITHM_4A
}

function parametersOf(search: string): [string, string][] {
  return search
    .slice(1)
    .split('&')
    .map((parameter) => {
      const [name, value] = cut(parameter)
      return [name, decodePercent(value)]
    })
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Splits a field at its first `=`. */
export function cut(field: string): [string, string] {
  const at = field.indexOf('=')
  return at < 0 ? [field, ''] : [field.slice(0, at), field.slice(at + 1)]
}

/** @param what the caller's text, which is shown only if it is known */
function buildUnsupportedFault(code: 'invalid_header' | 'invalid_target', what: string): Fault {
  const scheme = what.toUpperCase()
  if (scheme !== what && isKnown(scheme)) {
    throw new Fault(code, {
      message: `AWS requires the signature scheme in capitals: write ${scheme}.`,
    })
  }
  const instead = /-EVENTS$/.test(what)
    ? 'event streams are signed by the client; use an operation without one.'
    : 'use Signature Version 4 or 4A.'
  return new Fault(code, {
    message: `This kind of AWS signature is not supported${OTHER.test(what) ? ` (${what})` : ''}: ${instead}`,
  })
}
