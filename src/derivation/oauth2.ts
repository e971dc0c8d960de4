/**
 * OAuth 2 (RFC 6749): an access token, by the refresh token if the root has one, else by the client's own
 * credentials.
 */
import { toBase64, toBase64Url, utf8 } from '../core/crypto/encoding.ts'
import { generateRandomBytes } from '../core/crypto/random.ts'
import { percentEncode } from '../core/net/percent_encode.ts'
import { signAssertion } from './assertion.ts'
import { REFRESH_TOKEN } from './credential.ts'
import {
  acceptToken,
  COMMON_HEADERS,
  DEFAULT_LIFETIME_S,
  type Derivation,
  type Outcome,
  readSuccess,
  retryAnswer,
  type TokenAnswer,
  type TokenRequest,
} from './exchange.ts'
import { readJsonObject, scalarText } from './json.ts'
import type { OAuth2Root } from './root.ts'
import type { DerivedState } from './state_form.ts'

const JTI_BYTES = 16
const ASSERTION_S = 300
const MAX_LIFETIME_S = 10 * 365 * 86_400
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
/** Tokens of these types are worth nothing without a key or a signature. */
const BOUND_TYPES = ['dpop', 'mac', 'pop']

/** RFC 6749, sections 4.1.2.1 and 5.2, RFC 8628, RFC 8707, RFC 6750 and OpenID Connect Core. */
const REGISTERED = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'access_denied',
  'server_error',
  'temporarily_unavailable',
  'slow_down',
  'authorization_pending',
  'expired_token',
  'invalid_target',
  'invalid_token',
  'insufficient_scope',
  'interaction_required',
  'login_required',
  'consent_required',
]
const TRANSIENT_ERRORS = ['temporarily_unavailable', 'slow_down', 'server_error']
/** Statuses with which proxies and rate limiters request a retry, with any body. */
const TRANSIENT_STATUSES = [408, 425, 429]
/** RFC 6749, appendix A.7, without the space: frameworks write sentences there. */
const ERROR_CODE = /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/
/** Errors that accuse the refresh token, and not the client or the request. */
const LOSING = ['invalid_grant', 'invalid_token', 'expired_token', 'access_denied', 'unregistered']

export const oauth2: Derivation<OAuth2Root> = {
  findEndpoint: ({ tokenUrl }) => new URL(tokenUrl),
  buildRequest,
  readAnswer,
}

async function buildRequest(
  root: OAuth2Root,
  state: DerivedState | null,
  nowMs: number,
): Promise<TokenRequest> {
  const refreshToken =
    root.refreshToken === null ? null : (state?.refresh_token ?? root.refreshToken)
  const client = await authenticateClient(root, nowMs)
  const form = new URLSearchParams({
    ...(refreshToken === null
      ? { grant_type: 'client_credentials' }
      : { grant_type: 'refresh_token', refresh_token: refreshToken }),
    ...(root.scope !== null && { scope: root.scope }),
    ...(root.resource !== null && { resource: root.resource }),
    ...(root.audience !== null && { audience: root.audience }),
    ...root.parameters,
    ...client.fields,
  })
  return {
    url: new URL(root.tokenUrl).href,
    headers: [
      ...COMMON_HEADERS,
      ['content-type', 'application/x-www-form-urlencoded'],
      ...client.headers,
    ],
    body: utf8(form.toString()),
    spendsRefreshToken: refreshToken !== null,
  }
}

type ClientProof = { headers: [string, string][]; fields: Record<string, string> }

/** RFC 6749, section 2.3.1, and RFC 7523, section 2.2. */
async function authenticateClient(root: OAuth2Root, nowMs: number): Promise<ClientProof> {
  const { clientId, clientSecret, clientAuth } = root
  const fields = { client_id: clientId }
  if (clientAuth === 'basic') {
    const pair = [clientId, clientSecret ?? ''].map((text) => percentEncode(utf8(text)))
    return { headers: [['authorization', `Basic ${toBase64(utf8(pair.join(':')))}`]], fields: {} }
  }
  if (clientAuth === 'post') {
    return { headers: [], fields: { ...fields, client_secret: clientSecret ?? '' } }
  }
  if (clientAuth === 'none') return { headers: [], fields }
  const assertion = await signClientAssertion(root, nowMs)
  return {
    headers: [],
    fields: { ...fields, client_assertion_type: ASSERTION_TYPE, client_assertion: assertion },
  }
}

function signClientAssertion(root: OAuth2Root, nowMs: number): Promise<string> {
  const { clientId, assertionAudience, privateKey, keyId } = root
  const issuedAt = Math.floor(nowMs / 1000)
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: assertionAudience,
    jti: toBase64Url(generateRandomBytes(JTI_BYTES)),
    iat: issuedAt,
    exp: issuedAt + ASSERTION_S,
  }
  return signAssertion(claims, privateKey ?? '', { keyId })
}

function readAnswer(
  root: OAuth2Root,
  answer: TokenAnswer,
  request: TokenRequest,
  nowMs: number,
): Outcome {
  const success = readSuccess(answer)
  if (success === null) return readFailure(answer, request, nowMs)
  const { access_token, token_type, refresh_token, expires_in } = success
  const isBound = BOUND_TYPES.includes(scalarText(token_type).toLowerCase())
  if (isBound) return retryAnswer(answer, nowMs, 'unsupported_token_type')
  const isReplaced = (refresh_token ?? '') !== ''
  const isUsable = typeof refresh_token === 'string' && REFRESH_TOKEN.test(refresh_token)
  if (isReplaced && !isUsable) return retryAnswer(answer, nowMs)
  // Client credentials need no refresh token: the root renews again.
  const kept = isUsable && root.refreshToken !== null ? refresh_token : null
  return acceptToken(access_token, kept, readLifetime(expires_in))
}

function readFailure(answer: TokenAnswer, request: TokenRequest, nowMs: number): Outcome {
  const error = readJsonObject(answer.body)?.error
  if (typeof error !== 'string' || !ERROR_CODE.test(error)) return retryAnswer(answer, nowMs)
  const isRegistered = REGISTERED.includes(error)
  const code = isRegistered ? error : 'unregistered'
  if (isTransient(answer.status, error, isRegistered)) return retryAnswer(answer, nowMs, code)
  const mayHaveLostToken = request.spendsRefreshToken && LOSING.includes(code)
  return { kind: 'final', code, mayHaveLostToken }
}

function isTransient(status: number, error: string, isRegistered: boolean): boolean {
  if (status >= 500 || TRANSIENT_ERRORS.includes(error)) return true
  return !isRegistered && TRANSIENT_STATUSES.includes(status)
}

/** Some servers write `expires_in` as text. */
function readLifetime(expiresIn: unknown): number {
  const isText = typeof expiresIn === 'string' && /^\d{1,15}$/.test(expiresIn)
  const seconds = isText || typeof expiresIn === 'number' ? Math.floor(Number(expiresIn)) : 0
  return seconds > 0 && seconds <= MAX_LIFETIME_S ? seconds : DEFAULT_LIFETIME_S
}
