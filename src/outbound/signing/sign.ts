/**
 * Credentials that are never sent: the upstream receives a signature made with them. HMAC-SHA256 (RFC 2104) over a
 * template, and AWS Signature Version 4.
 */
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { Fault } from '../../core/fault.ts'
import { PLACEHOLDER_PREFIX, SECRET_NAME } from '../../core/names/secret_name.ts'
import { MAX_TEMPLATE, type Policy } from '../../core/policy/policy.ts'
import type { Secret } from '../../core/secret.ts'
import { type AwsCredentials, isStorage, signAws } from '../../core/signing/aws_sigv4.ts'
import type { MadeSignature, Signable } from '../../core/signing/signable.ts'
import { tokenPattern } from '../../core/token_pattern.ts'
import type { NamedBytes } from '../../leak_guard/index.ts'
import { checkSignatureHeaders, type HeaderPair } from '../headers.ts'
import { requireRoleKeys, roleKeysIn } from './role_keys.ts'
import { bytesIn, textIn } from './signature.ts'

/** `SVC_SECRET_NAME`, read as the name. */
const reference = z
  .string()
  .regex(
    new RegExp(`^${PLACEHOLDER_PREFIX}${SECRET_NAME}$`),
    `must be ${PLACEHOLDER_PREFIX} and a secret name`,
  )
  .transform((text) => text.slice(PLACEHOLDER_PREFIX.length))

const VARIABLE = /\{(method|host|path|query|body|timestamp)\}/
const headerName = z.string().regex(tokenPattern(128), 'must be a header name')
const awsWord = z.string().regex(/^[a-z0-9-]{1,64}$/, 'must be 1 to 64 of a-z, 0-9 and -')

const hmac = z
  .strictObject({
    type: z.literal('hmac-sha256'),
    secret: reference,
    header: headerName,
    /** The text to sign, with {method}, {host}, {path}, {query}, {body}, {timestamp} (Unix seconds). */
    template: z.string().max(MAX_TEMPLATE).default('{body}'),
    /** The header's value: text with {signature} and {timestamp}. */
    value: z.string().max(1024).default('{signature}'),
    encoding: z.enum(['hex', 'base64', 'base64url']).default('hex'),
    key_encoding: z.enum(['utf8', 'hex', 'base64']).default('utf8'),
  })
  .meta({ id: 'HmacSigning' })

const sigv4 = z
  .strictObject({
    type: z.literal('aws-sigv4'),
    access_key_id: reference,
    /** Absent if the ID names an AWS role. */
    secret_access_key: reference.optional(),
    session_token: reference.optional(),
    region: awsWord,
    service: awsWord,
  })
  .meta({ id: 'AwsSigning' })

export const signing = z.discriminatedUnion('type', [hmac, sigv4])
export type RequestSigning = z.output<typeof signing>
type Hmac = z.output<typeof hmac>
type SigV4 = z.output<typeof sigv4>

/** Returns the header that a signature may set freely. AWS prescribes its others. */
export function findFreeHeader(spec: RequestSigning | null): string[] {
  return spec?.type === 'hmac-sha256' ? [spec.header] : []
}

/** Returns the headers with which an API that reads this signature returns exactly the requested part of an object. */
export function rangesOf(spec: RequestSigning | null): readonly string[] {
  return spec?.type === 'aws-sigv4' && isStorage(spec.service) ? ['range'] : []
}

export type SigningStyle = 'hmac_sha256' | 'aws_sigv4' | 'azure_storage' | 'google_jwt'

export type SigningUse = {
  name: string
  style: SigningStyle | 'header' | 'query'
  header: string
  template?: string
  /** Whether the signature would also be valid for other hosts. */
  isForeign?: boolean
}

/** The secrets of a signature, each with the header that it affects. */
export function usesOf(spec: RequestSigning): SigningUse[] {
  if (spec.type === 'hmac-sha256') {
    const { secret: name, template } = spec
    return [{ name, style: 'hmac_sha256', header: spec.header.toLowerCase(), template }]
  }
  const keys = [spec.access_key_id, spec.secret_access_key].flatMap((name): SigningUse[] =>
    name === undefined ? [] : [{ name, style: 'aws_sigv4', header: 'authorization' }],
  )
  return spec.session_token ? [...keys, sessionTokenUse(spec.session_token, 'header')] : keys
}

/** A session token is sent unchanged, so the policy judges its place. */
export function sessionTokenUse(name: string, place: 'header' | 'query'): SigningUse {
  return { name, style: place, header: place === 'header' ? 'x-amz-security-token' : '' }
}

export type SignedRequest = {
  headers: HeaderPair[]
  /** For the guard of the answer: the signature as sent, and the bytes that it represents. */
  signatures: NamedBytes[]
}

/**
 * Returns the headers that the signature adds; `now` in milliseconds since 1970.
 *
 * @throws Fault `invalid_header` if the caller also set one of them or a template cannot be sent, `forbidden_header`
 *   for one that only the resolver may set or that describes a body's encoding, `unusable_secret` for a credential that
 *   does not fit its place
 */
export function sign(
  spec: RequestSigning,
  request: Signable,
  values: ReadonlyMap<string, Secret>,
  now: number,
): SignedRequest {
  const { headers: added, signature } =
    spec.type === 'hmac-sha256'
      ? signHmac(spec, request, values, now)
      : signAws(awsCredentials(spec, values), request, now)
  const given = new Set(request.headers.map(([name]) => name.toLowerCase()))
  if (added.some(([name]) => given.has(name.toLowerCase()))) {
    throw new Fault('invalid_header', { message: 'A signature header is repeated.' })
  }
  // The caller chose name and value: a signature must not become a way to set Host or framing.
  const headers = checkSignatureHeaders(added)
  const name =
    spec.type === 'hmac-sha256' ? spec.secret : (spec.secret_access_key ?? spec.access_key_id)
  return { headers, signatures: signature.map((bytes) => ({ name, bytes })) }
}

function awsCredentials(spec: SigV4, values: ReadonlyMap<string, Secret>): AwsCredentials {
  const { region, service } = spec
  if (spec.secret_access_key === undefined) {
    const role = requireRoleKeys(roleKeysIn(values, spec.access_key_id), spec.access_key_id)
    return {
      accessKeyId: role.accessKeyId,
      secretAccessKey: role.reveal(),
      sessionToken: role.revealSessionToken(),
      region,
      service,
    }
  }
  return {
    accessKeyId: textIn(values, spec.access_key_id),
    secretAccessKey: bytesIn(values, spec.secret_access_key),
    sessionToken: spec.session_token ? textIn(values, spec.session_token) : null,
    region,
    service,
  }
}

function signHmac(
  spec: Hmac,
  request: Signable,
  values: ReadonlyMap<string, Secret>,
  now: number,
): MadeSignature {
  const secret = bytesIn(values, spec.secret)
  const key = spec.key_encoding === 'utf8' ? secret : decodeKey(secret, spec)
  const timestamp = String(Math.floor(now / 1000))
  const parts = {
    method: request.method,
    host: request.authority,
    path: request.path,
    query: request.search.slice(1),
    timestamp,
  }
  const mac = createHmac('sha256', key)
  for (const piece of spec.template.split(/(\{body\})/)) {
    mac.update(piece === '{body}' ? request.body : fill(piece, parts))
  }
  const digest = mac.digest()
  const signature = digest.toString(spec.encoding)
  const header: HeaderPair = [spec.header, fill(spec.value, { timestamp, signature })]
  return { headers: [header], signature: [Buffer.from(signature), digest] }
}

/** Digests of a policy's constant templates, with the key in each encoding. */
export function listFixedSignatures(
  value: Uint8Array,
  { allowed_locations, sign_templates }: Policy,
): Uint8Array[] {
  if (!allowed_locations?.includes('sign')) return []
  const fixed = (sign_templates ?? []).filter((template) => !VARIABLE.test(template))
  const text = Buffer.from(value).toString('latin1')
  const keys = [value, decodeSigningKey(text, 'hex'), decodeSigningKey(text, 'base64')]
  return fixed.flatMap((template) =>
    keys.flatMap((key) => {
      const digest = key && createHmac('sha256', key).update(template).digest()
      return digest ? [digest, Buffer.from(digest.toString('hex'))] : []
    }),
  )
}

/** Decodes a key. Rejects text outside of its encoding, which would silently shorten it, down to an empty key. */
function decodeKey(text: Uint8Array, { secret, key_encoding }: Hmac): Uint8Array {
  const encoding = key_encoding === 'hex' ? 'hex' : 'base64'
  const key = decodeSigningKey(Buffer.from(text).toString('latin1'), encoding)
  if (key) return key
  throw new Fault('unusable_secret', {
    message: `The secret ${secret} is not a key in ${key_encoding}.`,
  })
}

function decodeSigningKey(text: string, encoding: 'hex' | 'base64'): Uint8Array | null {
  try {
    const key = encoding === 'hex' ? Uint8Array.fromHex(text) : Uint8Array.fromBase64(text)
    return key.length > 0 ? key : null
  } catch {
    return null
  }
}

/** Fills a template in one pass: inserted text is not scanned again. */
function fill(template: string, parts: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name) =>
    Object.hasOwn(parts, name) ? (parts[name] ?? '') : whole,
  )
}
