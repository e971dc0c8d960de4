/** Converts any error to a message and an exit code. A stack is only shown with --debug. */

import { MalformedRecoveryKey, WrongRecoveryKey } from '../../client/account/recovery.ts'
import { EndedToken } from '../../client/agents/standing.ts'
import { UnverifiedRequest } from '../../client/approvals/verify.ts'
import { InvalidToken } from '../../client/delivery/delivery.ts'
import { AnswerError, ApiError, NO_CODE } from '../../client/http/api.ts'
import { UntrustedCertificate } from '../../client/http/certificates.ts'
import {
  CLOCK_HINT,
  type ClockDifference,
  ClocksDiffer,
  clockSentence,
} from '../../client/http/clock_difference.ts'
import { UntrustedChain } from '../../client/signed/chain.ts'
import { RoleRefusal } from '../../client/signed/rights.ts'
import { FormerMember } from '../../client/signed/sign_change.ts'
import { EX_AUTH, EX_NETWORK, EX_NOT_FOUND, EX_REFUSED, EX_USAGE } from '../../core/exit_codes.ts'
import { type FieldFault, type Fix, formatInWords } from '../../core/fault.ts'
import { UnresolvedReference } from '../../core/policy/references.ts'
import { asOne, printableJson, printableLines } from '../../core/printable.ts'
import { Refusal } from '../../sigchain/index.ts'
import { helpCommandFor } from '../help/topics.ts'
import { CliError, type CliErrorCode } from './cli_error.ts'

export type Explanation = {
  exitCode: number
  /** A code of the command line or of the server. */
  code: string
  message: string
  hint: string | null
  /** The remedy, for programs. */
  fix: Fix | null
  docs: string | null
  /** The rejected fields of a request. */
  fields: readonly FieldFault[]
}

export function explain(error: unknown): Explanation {
  if (error instanceof CliError) return own(error)
  if (error instanceof ApiError) return explainApi(error)
  if (isCancelled(error)) return own(new CliError('cancelled', 'cancelled'))
  const fault = ofClient(error) ?? explainUnverified(error) ?? networkFault(error)
  if (fault !== null) return own(fault)
  const message = error instanceof Error ? error.message : String(error)
  return own(new CliError('failed', message, 'run it again with --debug to see where'))
}

/** Errors that a wrong clock can cause: expired early, or signed in the future. */
const OF_CLOCKS: readonly string[] = [
  'invalid_token',
  'invalid_credentials',
  'ended_token',
  'session_ended',
  'link_refused',
  'unverified_state',
  'unverified_workspace',
  'validation_error',
]

/** With a difference of the clocks, if there is one and the error may come of it. */
export function withClocks(
  explanation: Explanation,
  difference: ClockDifference | null,
): Explanation {
  if (difference === null || !OF_CLOCKS.includes(explanation.code)) return explanation
  const clocks = `${clockSentence(difference)} This may be the cause: ${CLOCK_HINT}`
  return {
    ...explanation,
    hint: explanation.hint === null ? clocks : `${clocks}; else ${explanation.hint}`,
  }
}

type Kind = abstract new (...args: never[]) => Error

/** Errors of the client library, which is independent of commands. */
const OF_CLIENT: readonly (readonly [kind: Kind, code: CliErrorCode, hint: string])[] = [
  [AnswerError, NO_CODE, 'check the address and the server version: cloakroom config'],
  [InvalidToken, 'invalid_token', 'tokens begin with svc_agt_ or svc_wkl_; copy the whole line'],
  [
    FormerMember,
    'not_permitted',
    'sign in again, or ask an owner or admin to invite you: cloakroom workspace invite',
  ],
  [ClocksDiffer, 'clocks_differ', CLOCK_HINT],
  [MalformedRecoveryKey, 'usage', 'copy all eight groups of the recovery key'],
  [UnverifiedRequest, 'unverified_request', 'see all of them: cloakroom approvals list --all'],
  [EndedToken, 'ended_token', 'issue a new one: cloakroom token issue AGENT'],
]

function ofClient(error: unknown): CliError | null {
  if (error instanceof UnresolvedReference) {
    const hint = 'show the stored value with: cloakroom secrets get NAME --raw'
    return new CliError('unresolved_reference', error.reasons, hint)
  }
  if (error instanceof UntrustedCertificate) {
    const hint = error.isUnknownIssuer ? OWN_AUTHORITY : OTHER_CERTIFICATE
    return new CliError('untrusted_certificate', error.message, hint)
  }
  for (const [kind, code, hint] of OF_CLIENT)
    if (error instanceof kind) return new CliError(code, error.message, hint)
  return null
}

/** Server data that does not match its signatures, of a workspace or a delivery. */
function explainUnverified(error: unknown): CliError | null {
  // A refusal of the own text before sending has no subject, because nobody tampered with it.
  if (error instanceof Refusal && error.subject === undefined) {
    const why = error.message.replace(/^.* is refused: /, '')
    const hint = error.reason === 'last_owner' ? LAST_OWNER : null
    return new CliError('usage', `this cannot be signed: ${why}; nothing was done`, hint)
  }
  const isOfToken = error instanceof Refusal
  if (!isOfToken && !(error instanceof UntrustedChain)) return null
  const where = isOfToken ? '' : 'verify the workspace with: cloakroom workspace verify; then '
  const hint = `${where}ask the server operator`
  return new CliError('unverified_workspace', `${error.message}; nothing was done`, hint)
}

/** As it is printed on standard error: sentences for people, one line of JSON for scripts. */
export function errorText(explanation: Explanation, json: boolean): string {
  if (json) return `${printableJson({ error: errorData(explanation) })}\n`
  const details = explanation.docs === null ? null : helpCommandFor(explanation.docs)
  const lines = [...sentences(explanation), ...(details === null ? [] : [`→ details: ${details}`])]
  return `cloakroom: ${lines.join('\n')}\n`
}

/** An error for programs. */
export function errorData(explanation: Explanation): Record<string, unknown> {
  const { code, message, hint, fields, fix, docs } = explanation
  const advice = { ...(fix ? { fix } : {}), ...(docs ? { docs } : {}) }
  return { code, message, hint, ...(fields.length > 0 ? { fields } : {}), ...advice }
}

/** Codes that add nothing to the sentence. */
const UNTOLD: readonly string[] = ['failed', 'cancelled'] satisfies CliErrorCode[]

/** For people, a line each, the first with the code. Names and sentences in them come from elsewhere. */
export function sentences({ code, message, hint, fields }: Explanation): string[] {
  const lines = [
    UNTOLD.includes(code) ? message : message.replace(/\n|$/, (end) => ` (${code})${end}`),
    ...fields.map((field) => `  ${field.path || 'request'}: ${field.message}`),
    ...(hint === null ? [] : [`→ ${hint}`]),
  ]
  return lines.map(printableLines)
}

function own({ exitCode, code, message, hint }: CliError): Explanation {
  return { exitCode, code, message, hint, fix: null, docs: null, fields: [] }
}

const OWN_AUTHORITY =
  'for a private certificate authority, pass its certificate: --ca-file ca.pem (SERVICE_CA_FILE)'
const OTHER_CERTIFICATE =
  'check the address with: cloakroom config; renew the certificate on the server'
const NOT_OURS = 'check the address and the server version: cloakroom config'
const OF_A_PROXY =
  'a proxy reports that the server does not respond: check it with cloakroom health on its machine'
const ROLES = 'see the permissions of each role: cloakroom workspace members --help'
const RECOVERY = 'check the recovery key and the address; each use replaces the key'
const GATEWAY: readonly number[] = [502, 503, 504]

const LAST_OWNER = 'make another member an owner first: cloakroom workspace role EMAIL owner'
const HINTS: Record<string, string> = {
  invalid_token: 'sign in again: cloakroom login EMAIL',
  invalid_credentials: 'check the address and the password',
  forbidden: 'ask an owner or admin of the workspace',
  epoch_conflict: 'the workspace key has changed: retry',
  'conflict of parts': 'someone else changed it: review it and retry',
  last_owner: LAST_OWNER,
  rate_limited: 'wait a moment and retry',
}

function explainApi(error: ApiError): Explanation {
  const { code, status, message, fields, fix, docs } = error
  if (code === NO_CODE) {
    return own(new CliError(code, message, GATEWAY.includes(status) ? OF_A_PROXY : NOT_OURS))
  }
  return {
    exitCode: exitCodeOf(status),
    code,
    // The sentence of a 422 repeats the first of the fields that follow it.
    message: asOne(message.replace(formatInWords('', fields.slice(0, 1)), '')),
    hint: hintOf(fix) ?? hintOfKind(error) ?? hintFor(code, fields.length > 0),
    fix,
    docs,
    fields,
  }
}

function hintOfKind(error: ApiError): string | null {
  // The sentence names the people to ask.
  if (error instanceof RoleRefusal) return ROLES
  return error instanceof WrongRecoveryKey ? RECOVERY : null
}

function hintFor(code: string, hasParts: boolean): string | null {
  return HINTS[hasParts ? `${code} of parts` : code] ?? HINTS[code] ?? null
}

function hintOf(fix: Fix | null): string | null {
  if (fix === null) return null
  return 'command' in fix
    ? `run: ${fix.command.join(' ')}`
    : `change the server setting ${fix.setting}`
}

function exitCodeOf(status: number): number {
  if (status === 401) return EX_AUTH
  if (status === 404) return EX_NOT_FOUND
  if (status === 422 || status === 400) return EX_USAGE
  return status >= 500 ? EX_NETWORK : EX_REFUSED
}

function isCancelled(error: unknown): boolean {
  return error instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(error.name)
}

function networkFault(error: unknown): CliError | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'EPROTO') {
    const hint = 'check whether it uses http instead of https: cloakroom config'
    return new CliError('unreachable', 'the server at that address does not use TLS', hint)
  }
  if (!NETWORK_CODES.test(code)) return null
  const mayBeTls = code === 'ECONNRESET' && urlIn(error)?.protocol === 'http:'
  const hint = mayBeTls
    ? 'it closed the connection: check whether it uses https instead of http: cloakroom config'
    : 'check that it is running, and its address: cloakroom config'
  return new CliError('unreachable', `${addressIn(error)} cannot be reached`, hint)
}

/** The runtime puts it into `path`. */
function urlIn(error: unknown): URL | null {
  return error instanceof Error && 'path' in error ? URL.parse(String(error.path)) : null
}

/** A person has several addresses to check. */
function addressIn(error: unknown): string {
  const url = urlIn(error)
  return url ? `the server at ${url.origin}` : 'the server'
}

const NETWORK_CODES =
  /^(E(CONN|NOTFOUND|TIMEDOUT|HOST|NET)|DNS_|ConnectionRefused|FailedToOpenSocket)/
