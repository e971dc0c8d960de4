/**
 * The fields of an error besides its code (protocol 2): `docs`, the section of the documentation for the code, and
 * `fix`, the remedy. One table serves both listeners, forward mode, the OpenAPI document and MCP.
 */
import {
  type Fault,
  type FaultCode,
  type Fix,
  type PendingApproval,
  statusOf,
} from '../core/fault.ts'

const ACCESS = 'reference/errors.md#sign-in-fails'
const TOKEN = 'reference/errors.md#a-token-is-rejected'
const REFUSED = 'reference/errors.md#a-call-is-refused'
const FAILED = 'reference/errors.md#a-call-fails'
const SERVER = 'reference/errors.md#the-server-does-not-answer'
const ABSENT = 'reference/errors.md#not-found-or-not-permitted'
const STORED = 'reference/errors.md#a-change-is-not-stored'
const REQUEST = 'reference/errors.md#a-request-or-command-is-invalid'

/** Paths below `docs/`. Each section has a row for the code, with its cause and fix. */
export const faultDocs: Readonly<Record<FaultCode, string>> = {
  malformed_json: REQUEST,
  invalid_host: SERVER,
  invalid_target: REFUSED,
  invalid_header: REFUSED,
  forbidden_header: REFUSED,
  invalid_token: TOKEN,
  invalid_credentials: ACCESS,
  forbidden: ABSENT,
  domain_blocked: REFUSED,
  address_blocked: REFUSED,
  policy_blocked: REFUSED,
  scope_required: TOKEN,
  approval_required: REFUSED,
  approval_denied: REFUSED,
  registration_closed: ACCESS,
  not_found: ABSENT,
  method_not_allowed: REQUEST,
  already_exists: STORED,
  last_owner: ABSENT,
  epoch_conflict: STORED,
  key_not_provisioned: TOKEN,
  conflict: STORED,
  quota_exceeded: STORED,
  reconnect_required: REFUSED,
  unverified_state: TOKEN,
  payload_too_large: REQUEST,
  unsupported_media_type: REQUEST,
  validation_error: REQUEST,
  link_required: STORED,
  link_refused: STORED,
  unknown_secret: REFUSED,
  ambiguous_secret: REFUSED,
  unusable_secret: REFUSED,
  unreadable_secret: REFUSED,
  placeholder_not_allowed: REFUSED,
  unresolved_reference: REFUSED,
  rate_limited: ACCESS,
  budget_exceeded: REFUSED,
  internal_error: SERVER,
  upstream_unreachable: FAILED,
  upstream_tls_error: FAILED,
  upstream_too_large: FAILED,
  upstream_protocol_error: FAILED,
  derivation_failed: FAILED,
  unavailable: SERVER,
  audit_unavailable: REFUSED,
  upstream_timeout: FAILED,
}

export type Advice = { fix?: Fix; docs?: string; approval?: PendingApproval }

/** A 401 carries neither: its sender is unknown. */
export function adviceFor(code: FaultCode, fix?: Fix): Advice {
  if (statusOf(code) === 401) return {}
  return { ...(fix ? { fix } : {}), docs: faultDocs[code] }
}

export function adviceOf({
  code,
  fix,
  approval,
}: Pick<Fault, 'code' | 'fix' | 'approval'>): Advice {
  return { ...adviceFor(code, fix), ...(approval ? { approval } : {}) }
}
