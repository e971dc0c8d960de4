/** AWS roles: temporary keys by AssumeRole, for a request signed with the root's key. */
import { readUtf8, utf8 } from '../core/crypto/encoding.ts'
import { signAws } from '../core/signing/aws_sigv4.ts'
import { ACCESS_KEY_ID, isCredential } from './credential.ts'
import {
  COMMON_HEADERS,
  type Derivation,
  lifetimeUntil,
  type Outcome,
  readSuccess,
  retryAnswer,
  type TokenAnswer,
  type TokenRequest,
} from './exchange.ts'
import { isObject, readJsonObject, scalarText } from './json.ts'
import type { AwsRoleRoot } from './root.ts'

const VERSION = '2011-06-15'
const SESSION_NAME = 'cloakroom'

/** Permanent errors of STS and of all AWS services. */
const FINAL_ERRORS = [
  'AccessDenied',
  'AccessDeniedException',
  'ExpiredToken',
  'ExpiredTokenException',
  'IncompleteSignature',
  'InvalidAction',
  'InvalidClientTokenId',
  'InvalidParameterCombination',
  'InvalidParameterValue',
  'InvalidQueryParameter',
  'MalformedPolicyDocument',
  'MalformedQueryString',
  'MissingAction',
  'MissingAuthenticationToken',
  'MissingParameter',
  'NotAuthorized',
  'OptInRequired',
  'PackedPolicyTooLarge',
  'RegionDisabledException',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
  'ValidationError',
]
/** Throttling, and clocks that differ. */
const TRANSIENT_ERRORS = [
  'RequestExpired',
  'RequestLimitExceeded',
  'RequestTimeTooSkewed',
  'SlowDown',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
]
/** The messages with which a signature of another time does not match. */
const SKEWED = /^Signature (?:expired|not yet current)/

export const awsRole: Derivation<AwsRoleRoot> = {
  findEndpoint: ({ stsUrl }) => new URL(stsUrl),
  buildRequest,
  readAnswer,
}

async function buildRequest(
  root: AwsRoleRoot,
  _state: unknown,
  nowMs: number,
): Promise<TokenRequest> {
  const url = new URL(root.stsUrl)
  const form = new URLSearchParams({
    Action: 'AssumeRole',
    Version: VERSION,
    RoleArn: root.roleArn,
    RoleSessionName: SESSION_NAME,
    DurationSeconds: String(root.durationSeconds),
    ...(root.externalId !== null && { ExternalId: root.externalId }),
    ...(root.sessionPolicy !== null && { Policy: root.sessionPolicy }),
  })
  const body = utf8(form.toString())
  const headers: [string, string][] = [
    ...COMMON_HEADERS,
    ['content-type', 'application/x-www-form-urlencoded'],
  ]
  const credentials = {
    accessKeyId: root.accessKeyId,
    secretAccessKey: utf8(root.secretAccessKey),
    sessionToken: null,
    region: root.region,
    service: 'sts',
  }
  const signable = {
    method: 'POST',
    authority: url.host,
    path: url.pathname,
    search: '',
    headers,
    body,
  }
  const signed = signAws(credentials, signable, nowMs)
  return {
    url: url.href,
    headers: [...headers, ...signed.headers],
    body,
    spendsRefreshToken: false,
  }
}

function readAnswer(
  root: AwsRoleRoot,
  answer: TokenAnswer,
  _request: TokenRequest,
  nowMs: number,
): Outcome {
  const success = readSuccess(answer)
  if (success === null) return readFailure(answer, nowMs)
  const keys = findKeys(success)
  const { AccessKeyId: id, SecretAccessKey: key, SessionToken: token, Expiration } = keys
  const isWhole = typeof id === 'string' && ACCESS_KEY_ID.test(id)
  if (!isWhole || !isCredential(key) || !isCredential(token)) return retryAnswer(answer, nowMs)
  const untilMs = readExpiration(Expiration)
  return {
    kind: 'derived',
    credential: { access_key_id: id, secret_access_key: key, session_token: token },
    refreshToken: null,
    lifetimeS: lifetimeUntil(untilMs, answer.headers, nowMs, root.durationSeconds),
  }
}

function findKeys(answer: Record<string, unknown>): Record<string, unknown> {
  const names = ['AssumeRoleResponse', 'AssumeRoleResult', 'Credentials']
  return names.reduce<Record<string, unknown>>((value, name) => {
    const inner = value[name]
    return isObject(inner) ? inner : {}
  }, answer)
}

/** Seconds since 1970 in JSON; ISO 8601 from a server that copies its XML. */
function readExpiration(expiration: unknown): number {
  return typeof expiration === 'number' ? expiration * 1000 : Date.parse(scalarText(expiration))
}

function readFailure(answer: TokenAnswer, nowMs: number): Outcome {
  const { status } = answer
  const { code, message } = readError(answer.body)
  const isSkewed = code === 'SignatureDoesNotMatch' && SKEWED.test(message)
  const isTransient = status < 300 || status >= 500 || status === 429
  if (isSkewed) return retryAnswer(answer, nowMs, 'RequestExpired')
  if (TRANSIENT_ERRORS.includes(code)) return retryAnswer(answer, nowMs, code)
  const isListed = FINAL_ERRORS.includes(code)
  if (isTransient || !(isListed || status === 403)) return retryAnswer(answer, nowMs)
  return { kind: 'final', code: isListed ? code : 'http_403', mayHaveLostToken: false }
}

/** The error of an answer in JSON, or in XML, which STS sends if it rejects a request early. */
function readError(body: Uint8Array): { code: string; message: string } {
  const json = readJsonObject(body)?.Error
  if (isObject(json)) return { code: scalarText(json.Code), message: scalarText(json.Message) }
  const xml = readUtf8(body.subarray(0, 4096))
  const [, code = ''] = /<Code>(\w{1,64})<\/Code>/.exec(xml) ?? []
  const [, message = ''] = /<Message>([^<]{1,1024})/.exec(xml) ?? []
  return { code, message }
}
