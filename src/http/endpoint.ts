/**
 * Contracts as data. One `Endpoint` per operation feeds validation, the OpenAPI document, the typed
 * client and the role matrix test; nothing about an operation is written a second time.
 */
import type { z } from 'zod'
import type { Capability } from '../core/capability.ts'
import type { hourlyQuotas, QuotaName } from '../core/config/quotas.ts'
import type { FaultCode } from '../core/fault.ts'
import type { Grant, Permission, ProjectGrant } from '../core/grant.ts'

/** The place of the operation's tenant; `serve` turns it into a resource before the handler runs. */
export type Tenant =
  | 'path.workspace_id'
  | 'path.project_id'
  /** One that was deleted and can be restored. */
  | 'path.deleted_project_id'
  /** `{workspace_id}` and `{project_id}`: a project of another workspace is 404 */
  | 'path.workspace_project'
  /** `{workspace_id}/{project_name}` */
  | 'path.project_name'
  /** `{project}`: a name in the active workspace, or an id */
  | 'path.project'
  | 'body.project_id'
  /** Required there, without a default. */
  | 'query.workspace_id'
  /** X-Workspace-Id, query, body, the personal workspace, the only one (protocol 2) */
  | 'active'

/** Tenants with a grant for one project. */
export type ProjectTenant = Exclude<Tenant, 'path.workspace_id' | 'query.workspace_id' | 'active'>

export type EndpointAccess =
  /** With `console`, only for the console's own page: tokens are set as cookies. */
  | { kind: 'public'; rate?: 'register' | 'login'; console?: true }
  /** With `instanceOwner` only the owner of the installation. */
  | { kind: 'session'; instanceOwner?: true }
  | { kind: 'member'; permission: Permission; tenant: Tenant }
  | TokenAccess
  /** CRON_SECRET as the bearer; not there at all while that is not set. */
  | { kind: 'cron' }

/** The token of an agent or workload; the route authenticates it itself (access/admission.ts). */
export type TokenAccess = {
  kind: 'token'
  /** The required capability of the token; null if any token is accepted. */
  capability: Capability | null
  /** The sealed form will do: nothing has to be opened. */
  sealed?: true
  /** A session will do. */
  orSession?: true
  /** Its name in the audit log, if it is no call to an API. */
  action?: TokenAction
}

/** The actions of tokens besides calls. */
export const tokenActions = [
  'approval.requested',
  'audit.reported',
  'credential.derived',
  'credentials.listed',
  'credentials.read',
  'domains.listed',
  'links.read',
  'proposal.created',
  'shapes.read',
] as const
export type TokenAction = (typeof tokenActions)[number]

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

export type Endpoint = {
  /** Dotted, unique: the operation id in OpenAPI. */
  name: string
  summary: string
  method: Method
  /** Canonical: with a trailing slash, parameters in braces. */
  path: `/${string}`
  /** The last parameter takes all that is left of the path, slashes too. */
  restOfPath?: true
  access: EndpointAccess
  params?: z.ZodObject<Record<string, z.ZodType<string>>>
  query?: z.ZodObject
  body?: z.ZodType
  /** A request without a body is read as `{}`. */
  bodyOptional?: true
  /** Bytes; 1 MiB unless given. */
  bodyLimit?: number
  /** The content of `data`, or of the whole body when `bare`. */
  result?: z.ZodType
  /** Lists return `pagination` beside `data`. */
  paged?: true
  /** The fields of a list besides `data`, about all of its pages. */
  beside?: z.ZodObject
  bare?: true
  /** 503 has the same result, with the unhealthy parts. */
  degradable?: true
  /** The media type of a response that is not JSON. It has no `result`. */
  mediaType?: string
  /** 200 unless given; with both, the handler returns `created(…)` for 201. */
  success?: 201 | 'either'
  /** It returns values of secrets, or may: that is put on record like a change. */
  reveals?: true
  /**
   * Why a non-GET request is not recorded as a change. All others are (`recorder.ts`), except for calls of tokens,
   * which the audit trail records before they are made.
   */
  unrecorded?: string
  /**
   * Forwards requests and responses of any kind. Errors have a form that SDKs of other APIs understand (protocol 2).
   * The fields are those of its `X-Service-…` headers.
   */
  forwards?: z.ZodObject
  /** The quotas that it may exceed, which is 409 `quota_exceeded`. */
  quotas?: readonly (QuotaName | keyof typeof hourlyQuotas)[]
  /** Error codes in addition to those implied by access, parameters and body. */
  faults?: readonly FaultCode[]
}

export type TokenEndpoint = Endpoint & { access: TokenAccess }

export function defineEndpoint<const E extends Endpoint>(endpoint: E): E {
  return endpoint
}

/** Whether an endpoint must record its changes. The type and the function implement the same rule. */
export type MustRecord<E extends Endpoint> = E extends { reveals: true }
  ? true
  : E extends { method: 'GET' | 'OPTIONS' } | { access: { kind: 'token' } } | { unrecorded: string }
    ? false
    : true

export function mustRecord({ method, access, unrecorded, reveals }: Endpoint): boolean {
  if (reveals) return true
  const changesNothing = method === 'GET' || method === 'OPTIONS'
  return !changesNothing && access.kind !== 'token' && unrecorded === undefined
}

/** The parsed input of an endpoint's part: `InputOf<typeof upsertSecrets, 'body'>`. */
export type InputOf<
  E extends Endpoint,
  Part extends 'params' | 'query' | 'body',
> = E[Part] extends z.ZodType ? z.output<E[Part]> : undefined

/** The return value of a handler, before the result schema shapes it. */
export type ResultOf<E extends Endpoint> = E['result'] extends z.ZodType
  ? z.input<E['result']>
  : undefined

/** All codes that an endpoint can refuse with, for its documentation. */
export function faultsOf(endpoint: Endpoint): FaultCode[] {
  const codes: FaultCode[] = ['invalid_host', 'rate_limited', 'internal_error', 'unavailable']
  if (endpoint.access.kind !== 'public') codes.push('invalid_token')
  if (endpoint.access.kind === 'member') codes.push('not_found', 'forbidden')
  if (endpoint.access.kind === 'session' && endpoint.access.instanceOwner) codes.push('forbidden')
  if (endpoint.access.kind === 'cron') codes.push('not_found')
  if (endpoint.access.kind === 'token')
    codes.push('scope_required', 'key_not_provisioned', 'unverified_state')
  if (endpoint.params) codes.push('not_found')
  if (endpoint.body) codes.push('malformed_json', 'payload_too_large', 'unsupported_media_type')
  if (endpoint.body ?? endpoint.query ?? endpoint.params) codes.push('validation_error')
  if (endpoint.quotas) codes.push('quota_exceeded')
  return [...new Set([...codes, ...(endpoint.faults ?? [])])]
}

/** The grant that a handler of this endpoint receives. */
export type GrantOf<E extends Endpoint> = E['access'] extends {
  kind: 'member'
  permission: infer P extends Permission
  tenant: infer T
}
  ? T extends ProjectTenant
    ? ProjectGrant<P>
    : Grant<P>
  : undefined
