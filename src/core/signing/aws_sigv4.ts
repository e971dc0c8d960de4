/**
 * AWS Signature Version 4: the canonical request, the derived key, the Authorization header.
 *
 * `@smithy/signature-v4` was tried in its place. It signs every header without an exclusion, so it cannot sign those
 * that a client chose; and checking a client's own signature still needs the canonical request. It makes equal
 * signatures, in 1.0 to 2.1 times the processor time.
 */
import { createHash, createHmac } from 'node:crypto'
import { Fault } from '../fault.ts'
import type { HeaderPair, MadeSignature, Signable } from './signable.ts'

export type AwsCredentials = {
  accessKeyId: string
  secretAccessKey: Uint8Array
  sessionToken: string | null
  region: string
  service: string
}

/**
 * AWS Signature Version 4, with the Authorization header. Signed are host, content-type and all x-amz-
 * headers. Amazon S3 wants the path escaped in one way and the payload's hash in a header, other services
 * the path as sent, without empty segments and escaped once more.
 *
 * @throws Fault `invalid_target` for malformed escapes in what has to be escaped again
 */
export function signAws(
  credentials: AwsCredentials,
  request: Signable,
  now: number,
): MadeSignature {
  const { service, sessionToken } = credentials
  const [day, time] = new Date(now)
    .toISOString()
    .replace(/[-:]|\.\d{3}/g, '')
    .split('T')
  const stamp = `${day}T${time}`
  const payload = sha256Hex(request.body)
  const added: HeaderPair[] = [
    ['x-amz-date', stamp],
    ...(service === 's3' ? [['x-amz-content-sha256', payload] satisfies HeaderPair] : []),
    ...(sessionToken ? [['x-amz-security-token', sessionToken] satisfies HeaderPair] : []),
  ]
  const headers = listSignedHeaders(request, added)
  const key = deriveSigningKey(credentials, day ?? '')
  const canonical = buildCanonicalRequest(service, request, headers, payload)
  const signature = key.sign(textToSign(key, stamp, canonical))
  const authorization = authorizationOf(credentials.accessKeyId, key, headers, signature)
  return {
    headers: [...added, ['authorization', authorization]],
    signature: formsOf(signature),
  }
}

/** A signing key for a day, a region and a service, which `scope` names. Signatures are in hexadecimal. */
export type AwsSigningKey = {
  algorithm: string
  scope: string
  sign(text: string): string
  verifies(text: string, signature: string): boolean
}

export const ALGORITHM = 'AWS4-HMAC-SHA256'

export function deriveSigningKey(
  { secretAccessKey, region, service }: Omit<AwsCredentials, 'accessKeyId' | 'sessionToken'>,
  day: string,
): AwsSigningKey {
  const steps = [day, region, service, 'aws4_request']
  const secret = Buffer.concat([Buffer.from('AWS4'), secretAccessKey])
  const key = steps.reduce<Buffer>(hmac, secret)
  const signText = (text: string) => hmac(key, text).toString('hex')
  return {
    algorithm: ALGORITHM,
    scope: steps.join('/'),
    sign: signText,
    verifies: (text, signature) => signText(text) === signature,
  }
}

/** @param headers the signed ones in their order; `payload` as the canonical request names it */
export function buildCanonicalRequest(
  service: string,
  { method, path, search }: Pick<Signable, 'method' | 'path' | 'search'>,
  headers: readonly HeaderPair[],
  payload: string,
): string {
  return [
    method,
    isStorage(service) ? objectPath(path) : normalizePath(path),
    toCanonicalQuery(search),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    namesOf(headers),
    payload,
  ].join('\n')
}

/** Returns the text to sign for a canonical request. */
export function textToSign(
  { algorithm, scope }: AwsSigningKey,
  stamp: string,
  canonical: string,
): string {
  return [algorithm, stamp, scope, sha256Hex(canonical)].join('\n')
}

export function authorizationOf(
  id: string,
  { algorithm, scope }: AwsSigningKey,
  headers: readonly HeaderPair[],
  signature: string,
): string {
  return `${algorithm} Credential=${id}/${scope}, SignedHeaders=${namesOf(headers)}, Signature=${signature}`
}

/** Amazon S3 and its relatives, which read paths in their own way. */
export function isStorage(service: string): boolean {
  return /^s3(-|express$|$)/.test(service)
}

/** A signature as it is sent, and the bytes that it represents. */
export function formsOf(signature: string): Uint8Array[] {
  return [Buffer.from(signature), Buffer.from(signature, 'hex')]
}

/** Names in lower case, values without needless spaces, sorted. */
export function toCanonicalHeaders(headers: readonly HeaderPair[]): HeaderPair[] {
  return headers
    .map(([name, value]): HeaderPair => [name.toLowerCase(), value.replace(/[ \t]+/g, ' ').trim()])
    .sort(compareByCode)
}

function namesOf(headers: readonly HeaderPair[]): string {
  return headers.map(([name]) => name).join(';')
}

function listSignedHeaders(
  { authority, headers }: Signable,
  added: readonly HeaderPair[],
): HeaderPair[] {
  const all: HeaderPair[] = [['host', authority], ...headers, ...added]
  return toCanonicalHeaders(all).filter(
    ([name]) => name === 'host' || name === 'content-type' || name.startsWith('x-amz-'),
  )
}

/**
 * Returns an object's path. Its key is a sequence of bytes: every escaping is replaced by one form, which leaves
 * slashes unescaped. AWS's SDK for Java sends `//` as `/%2F`, and signs `//`.
 */
function objectPath(path: string): string {
  return path
    .split(/\/|%2f/i)
    .map((segment) => escapeAws(decode(segment)))
    .join('/')
}

/** The target has no dot segments; `path` begins with a slash. */
function normalizePath(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '')
  const end = segments.length > 0 && path.endsWith('/') ? '/' : ''
  return `/${segments.map(escapeAws).join('/')}${end}`
}

/** RFC 3986 unreserved characters stay, all else is percent-encoded, parameters sorted by code. */
function toCanonicalQuery(search: string): string {
  const pairs = search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '')
  return pairs
    .map((pair): HeaderPair => {
      const [name = '', value = ''] = pair.split(/=(.*)/s)
      return [escapeAws(decode(name)), escapeAws(decode(value))]
    })
    .sort(compareByCode)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Fault('invalid_target', {
      message: 'The path or query of the target cannot be signed.',
    })
  }
}

function escapeAws(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function compareByCode(a: HeaderPair, b: HeaderPair): number {
  const [left, right] = [a.join('\0'), b.join('\0')]
  return left < right ? -1 : Number(left > right)
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}
