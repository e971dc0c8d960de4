/**
 * JSON Web Tokens to be signed with the key of a Google service account: in place of the signature, they have a
 * placeholder of the account, `HEADER.CLAIMS.SVC_SECRET_NAME` (protocol 6.5).
 */
import { fromUtf8 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import { PLACEHOLDER_PREFIX, SECRET_NAME } from '../../core/names/secret_name.ts'
import type { Target } from '../target.ts'
import { headerOf } from './signature.ts'

export type Assertion = {
  name: string
  claims: Readonly<Record<string, unknown>>
  /** Whether it would also be valid for other hosts. */
  isForeign: boolean
}

export const FORM_TYPE = 'application/x-www-form-urlencoded'
/** Bytes of a form that may hold an assertion. */
const MAX_FORM = 65_536
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

const MAX_TOKEN = 16_384
const UNSIGNED = new RegExp(
  `^(eyJ[A-Za-z0-9_-]+)\\.(eyJ[A-Za-z0-9_-]+)\\.${PLACEHOLDER_PREFIX}(${SECRET_NAME})$`,
)
const BEARER = /^bearer +(\S+)$/i
/** An audience that every parser reads alike: no user information, nothing to normalise. */
const AUDIENCE = /^https:\/\/([a-z0-9.-]+(?::\d+)?)(?:\/[\w./~-]*)?$/
/** Names that readers use. Go, among others, accepts any case and the last one of duplicates. */
const READ = [
  'alg',
  'kid',
  'typ',
  'iss',
  'aud',
  'sub',
  'prn',
  'scope',
  'target_audience',
  'exp',
  'iat',
  'nbf',
  'azp',
]
const READ_ALIKE = new RegExp(`^(${READ.join('|')})$`, 'iu')
/** Names of one endpoint: clients use any of them as the audience of an assertion to another one. */
const TOKEN_HOSTS = ['oauth2.googleapis.com', 'www.googleapis.com', 'accounts.google.com']

/** Whether the body may contain an assertion, for which it must be read whole. */
export function mayHoldAssertion({
  method,
  headers,
}: Pick<Request, 'method' | 'headers'>): boolean {
  const length = Number(headers.get('content-length') ?? Number.NaN)
  return method === 'POST' && length <= MAX_FORM && isForm(headers.get('content-type'))
}

export function isForm(contentType: string | null | undefined): boolean {
  return contentType?.split(';')[0]?.trim().toLowerCase() === FORM_TYPE
}

/** @throws Fault `invalid_header` */
export function bearerIn(headers: Readonly<Record<string, string>>, target: Target) {
  const [, token = ''] = BEARER.exec(headerOf(headers, 'authorization') ?? '') ?? []
  const found = findUnsigned(token, 'invalid_header')
  return found && checkAssertion(found, target, 'invalid_header')
}

/** @throws Fault `validation_error` */
export function assertionIn(form: URLSearchParams, target: Target): Assertion | null {
  const assertions = form.getAll('assertion')
  const [found] = assertions.flatMap((text) => findUnsigned(text, 'validation_error') ?? [])
  if (!found) return null
  const isOne = assertions.length === 1 && form.getAll('grant_type').join() === GRANT_TYPE
  if (!isOne)
    throw buildRefusedFault('validation_error', `needs a form with the grant type ${GRANT_TYPE}`)
  return checkAssertion(found, target, 'validation_error')
}

type Code = 'invalid_header' | 'validation_error'
type Found = Pick<Assertion, 'name' | 'claims'>

function findUnsigned(text: string, code: Code): Found | null {
  const [, head = '', body = '', name] = UNSIGNED.exec(text) ?? []
  if (name === undefined) return null
  if (text.length > MAX_TOKEN) throw buildRefusedFault(code, `is longer than ${MAX_TOKEN} bytes`)
  const [header, claims] = [objectIn(head), objectIn(body)]
  if (!header || !claims) throw buildRefusedFault(code, 'cannot be read')
  if ([header, claims].some(hasNameInOtherCase))
    throw buildRefusedFault(code, 'has a name in the wrong case')
  if (header.alg !== 'RS256') throw buildRefusedFault(code, 'must use RS256')
  return { name, claims }
}

function hasNameInOtherCase(part: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(part).some((name) => READ_ALIKE.test(name) && !READ.includes(name))
}

/** @throws Fault for claims that are valid for other hosts */
function checkAssertion({ name, claims }: Found, target: Target, code: Code): Assertion {
  const { iss, aud, scope } = claims
  if (typeof iss !== 'string' || iss === '') throw buildRefusedFault(code, 'has no issuer')
  // Without an audience, every API of Google accepts it.
  const isOpen = code === 'invalid_header' && aud === undefined && typeof scope === 'string'
  if (isOpen) return { name, claims, isForeign: !/\.googleapis\.com$/.test(target.host) }
  const [, written] = (typeof aud === 'string' && AUDIENCE.exec(aud)) || []
  const audience = written?.replace(/:443$/, '')
  if (audience === undefined)
    throw buildRefusedFault(code, 'must have a plain https URL as audience')
  const isHere =
    audience === target.authority ||
    [audience, target.authority].every((host) => TOKEN_HOSTS.includes(host))
  if (!isHere) throw buildRefusedFault(code, 'has another host as audience')
  return { name, claims, isForeign: false }
}

export function objectIn(base64url: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(fromUtf8(Buffer.from(base64url, 'base64url')) ?? '')
    return typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

function buildRefusedFault(code: Code, objection: string): Fault {
  return new Fault(code, { message: `The JSON Web Token to sign ${objection}.` })
}
