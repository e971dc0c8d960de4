/**
 * The catalogue of all faults that callers can get: one stable code, one status and one default sentence each (protocol
 * 9). Messages never contain submitted text.
 */
const catalogue = {
  malformed_json: [400, 'The request body is not valid JSON.'],
  invalid_host: [400, 'The Host header is missing, malformed or not in ALLOWED_HOSTS.'],
  invalid_target: [400, 'target_url must be an absolute https URL without credentials.'],
  invalid_header: [400, 'A header has an invalid name or value.'],
  forbidden_header: [400, 'Only the resolver can set this header.'],
  invalid_token: [401, 'Authentication is required: the token is missing, invalid or expired.'],
  invalid_credentials: [401, 'The email address or password is wrong.'],
  forbidden: [403, 'Your role does not allow this.'],
  domain_blocked: [403, 'The host is not an allowed host of the workspace.'],
  address_blocked: [403, 'The host resolves to a private or reserved address.'],
  policy_blocked: [403, 'The policy of the secret does not allow this request.'],
  scope_required: [403, 'The token does not have the required scope.'],
  approval_required: [403, 'This call needs approval by a member.'],
  approval_denied: [403, 'A member denied this call.'],
  registration_closed: [403, 'Registration is closed on this server.'],
  not_found: [404, "Not found, or you don't have access."],
  method_not_allowed: [405, 'This path does not support the method.'],
  already_exists: [409, 'An item with this name already exists.'],
  last_owner: [409, 'A workspace needs at least one owner.'],
  epoch_conflict: [
    409,
    'The workspace key has changed. Fetch the current epoch and encrypt again.',
  ],
  key_not_provisioned: [409, 'The token has no key for this project and environment.'],
  conflict: [409, 'The item was changed by someone else. Reload it and retry.'],
  reconnect_required: [409, 'The secret can no longer be renewed. Connect it again.'],
  quota_exceeded: [409, 'A quota of this server has been reached.'],
  unverified_state: [
    409,
    'The stored data of this signed workspace does not match its signatures.',
  ],
  payload_too_large: [413, 'The request body is too large.'],
  unsupported_media_type: [415, 'The request body must be application/json.'],
  validation_error: [422, 'Some fields are invalid.'],
  link_required: [422, 'This workspace is signed. The change needs a signature.'],
  link_refused: [422, 'The signed change was rejected.'],
  unknown_secret: [422, 'This token has no secret with this name.'],
  ambiguous_secret: [422, 'Several projects have a secret with this name. Name the project.'],
  unusable_secret: [422, 'The secret contains characters that are invalid in this place.'],
  unreadable_secret: [
    422,
    'The secret cannot be decrypted. It was altered or sealed with another key.',
  ],
  placeholder_not_allowed: [
    422,
    'A placeholder is in a place that the policy of its secret does not list.',
  ],
  unresolved_reference: [422, 'The secret refers to another secret, which is not available here.'],
  rate_limited: [429, 'Too many requests. Wait and retry.'],
  budget_exceeded: [429, 'A limit of this token has been reached. Retry later.'],
  internal_error: [500, 'Internal server error.'],
  upstream_unreachable: [502, 'The API could not be reached.'],
  upstream_tls_error: [502, 'No trusted TLS 1.3 connection to the API could be established.'],
  upstream_too_large: [502, 'The response of the API is too large.'],
  upstream_protocol_error: [502, 'The API did not return valid HTTP.'],
  derivation_failed: [502, 'The credential could not be renewed. Retry later.'],
  unavailable: [503, 'The service is temporarily unavailable.'],
  audit_unavailable: [503, 'The audit record could not be written, so nothing was sent.'],
  upstream_timeout: [504, 'The API did not respond in time.'],
} as const satisfies Record<string, readonly [status: number, message: string]>

export type FaultCode = keyof typeof catalogue
export const faultCodes = Object.keys(catalogue) as FaultCode[]

/** One refused field: a dotted path into the body and the reason, without the value. */
export type FieldFault = { path: string; message: string }

/** The rules of a policy that can refuse a call: its fields, and forms of requests that its limits cannot check. */
export const policyRules = [
  'allowed_domains',
  'allowed_methods',
  'allowed_paths',
  'allowed_headers',
  'allowed_locations',
  'sign_templates',
  'allowed_operations',
  'read_only',
  'override',
  'objects',
  'batch',
  'approval',
] as const
export type PolicyRule = (typeof policyRules)[number]

/** The rule that refused a call, and the secret whose policy has it. */
export type RefusedBy = { secret: string; rule: PolicyRule }

/** The remedy of a fault: a command to run, or a server setting to change. Never contains submitted text. */
export type Fix = { command: readonly string[] } | { setting: string }

/** Matches plain arguments. People and agents run suggestions, so programs, addresses and hidden words are left out. */
export const PLAIN_ARGUMENT = /^(?!--?(?:server|resolver|ca-file|insecure))[\w.:*@/=,+-]{1,300}$/

/** Returns a `cloakroom` command, or undefined if an argument could differ from how it looks. */
export function commandFix(...args: readonly string[]): Fix | undefined {
  if (!args.every((argument) => PLAIN_ARGUMENT.test(argument))) return undefined
  return { command: ['cloakroom', ...args] }
}

/** The request that a call waits for; `expires_at` is ISO 8601. */
export type PendingApproval = { id: string; expires_at: string }

type FaultDetails = {
  fix?: Fix | undefined
  /** Replaces the catalogue's sentence; must not contain submitted values. */
  message?: string | undefined
  fields?: FieldFault[] | undefined
  headers?: Record<string, string> | undefined
  refusedBy?: RefusedBy | undefined
  approval?: PendingApproval | undefined
  cause?: unknown
}

/** Thrown for every refusal; `serve` and the resolver turn it into a response. */
export class Fault extends Error {
  readonly code: FaultCode
  readonly status: number
  readonly fields: FieldFault[] | undefined
  readonly headers: Record<string, string>
  readonly refusedBy: RefusedBy | null
  readonly fix: Fix | undefined
  readonly approval: PendingApproval | undefined

  constructor(code: FaultCode, details: FaultDetails = {}) {
    super(details.message ?? catalogue[code][1], { cause: details.cause })
    this.name = 'Fault'
    this.code = code
    this.status = catalogue[code][0]
    this.fields = details.fields
    this.headers = details.headers ?? {}
    this.fix = details.fix
    this.approval = details.approval
    this.refusedBy = details.refusedBy ?? null
  }

  /** Returns this fault with a fix, unless it already has one. */
  withFix(fix: Fix): Fault {
    if (this.fix) return this
    const { message, fields, headers, cause, approval } = this
    return new Fault(this.code, {
      ...{ message, fields, headers, cause, fix, approval },
      refusedBy: this.refusedBy ?? undefined,
    })
  }
}

/** Returns a refusal's text for places that have no list of fields. */
export function formatInWords(message: string, fields: readonly FieldFault[] = []): string {
  if (fields.length === 0) return message
  return `${message} ${fields.map((field) => `${field.path || 'body'}: ${field.message}`).join('; ')}`
}

/** Returns a 422 for one field. */
export function buildFieldFault(path: string, message: string): Fault {
  return new Fault('validation_error', { fields: [{ path, message }] })
}

export function statusOf(code: FaultCode): number {
  return catalogue[code][0]
}

export function messageOf(code: FaultCode): string {
  return catalogue[code][1]
}
