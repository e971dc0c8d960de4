import { z } from 'zod'
import { MAX_REASON } from '../core/crypto/approval/details.ts'
import { fromBase64 } from '../core/crypto/encoding.ts'
import { approval, callMethods, MAX_CALL_MS } from '../core/policy/policy.ts'
import { line, map } from '../core/validation/validate.ts'
import { defineEndpoint } from '../http/endpoint.ts'
import {
  environment,
  integer,
  projectId,
  rarelyNeeded,
  text,
  unfilledPlaceholder,
} from '../http/fields.ts'
import { BODY_LIMIT } from '../outbound/call.ts'
import { signing } from '../outbound/signing/sign.ts'
import { shape, unshapedCodes } from '../outbound/stand_ins/shape.ts'

const MAX_HEADERS = 1000
export const MAX_APPROVAL_WAIT_MS = 120_000

export const outboundMethods = callMethods

const outboundCall = z
  .strictObject({
    target_url: text('https://api.stripe.com/v1/charges').meta({ pattern: '^https://' }),
    method: z
      .enum(outboundMethods)
      .meta({ examples: ['POST'] })
      .default('GET'),
    headers: map(
      { max: MAX_HEADERS },
      text('authorization'),
      text('Bearer SVC_SECRET_STRIPE_API_KEY'),
    ).default({}),
    body: text('{"amount":2000,"currency":"eur"}').nullish(),
    body_encoding: z.literal('base64').nullish().meta(rarelyNeeded),
    project_id: projectId.nullish(),
    environment: environment.nullish(),
    timeout_ms: z.number().int().min(1).max(MAX_CALL_MS).nullish(),
    stream: z.boolean().nullish(),
    strict_placeholders: z.boolean().nullish().meta(rarelyNeeded),
    approval_wait_ms: z
      .number()
      .int()
      .min(0)
      .max(MAX_APPROVAL_WAIT_MS)
      .nullish()
      .meta(rarelyNeeded),
    reason: line(MAX_REASON).nullish().meta(rarelyNeeded),
    sign: signing.nullish().meta(rarelyNeeded),
    trace: z.boolean().nullish().meta(rarelyNeeded),
  })
  .superRefine(({ method, body, body_encoding }, context) => {
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    // An empty body counts as no body.
    if (body && (method === 'GET' || method === 'HEAD')) {
      refuse('body', 'is not possible with GET or HEAD')
    }
    if (body_encoding && fromBase64(body ?? '') === null)
      refuse('body', 'must be canonical base64 with padding')
  })
  .meta({ id: 'OutboundCall' })

export type OutboundCall = z.output<typeof outboundCall>

/** Faults of the steps of a call, for every way to make a call. */
export const outboundFaults = [
  'invalid_target',
  'invalid_header',
  'forbidden_header',
  'domain_blocked',
  'address_blocked',
  'policy_blocked',
  'approval_required',
  'approval_denied',
  'budget_exceeded',
  'scope_required',
  'key_not_provisioned',
  'unknown_secret',
  'ambiguous_secret',
  'unusable_secret',
  'unreadable_secret',
  'unresolved_reference',
  'reconnect_required',
  'derivation_failed',
  'placeholder_not_allowed',
  'upstream_unreachable',
  'upstream_tls_error',
  'upstream_too_large',
  'upstream_protocol_error',
  'upstream_timeout',
  'audit_unavailable',
] as const

export const resolveCall = defineEndpoint({
  name: 'resolver.resolve',
  summary: 'Send a request with inserted credentials, and return the redacted response',
  method: 'POST',
  path: '/v1/resolve',
  access: { kind: 'token', capability: 'use' },
  body: outboundCall,
  bodyLimit: BODY_LIMIT,
  result: z
    .object({
      status_code: integer(200),
      headers: z.record(text('content-type'), text('application/json')),
      body: text('{"id":"ch_1","amount":2000}'),
      body_encoding: z.literal('base64').optional().meta(rarelyNeeded),
      redacted: z.boolean(),
      unfilled: z.array(unfilledPlaceholder).optional().meta(rarelyNeeded),
      length: z.literal('unproven').optional().meta(rarelyNeeded),
      dropped_headers: z.array(text('set-cookie')).optional().meta(rarelyNeeded),
    })
    .meta({ id: 'UpstreamResponse' }),
  bare: true,
  faults: outboundFaults,
})

export const listDomains = defineEndpoint({
  name: 'resolver.allowlist',
  summary: 'List the allowed hosts of this token',
  method: 'GET',
  path: '/v1/allowlist',
  access: { kind: 'token', capability: 'use', action: 'domains.listed' },
  result: z.object({ domains: z.array(text('api.stripe.com')) }),
  bare: true,
})

const listOf = (example: string) =>
  z
    .array(z.string())
    .nullable()
    .meta({ examples: [[example]] })

export const listCredentials = defineEndpoint({
  name: 'resolver.credentials',
  summary: 'List the credentials of this token by name, with purpose and policy',
  method: 'GET',
  path: '/v1/credentials/',
  access: { kind: 'token', capability: 'use', action: 'credentials.listed' },
  result: z.array(
    z
      .object({
        name: text('STRIPE_API_KEY'),
        project_id: projectId,
        environment,
        description: text('Charges cards of the test account').nullable(),
        allowed_domains: listOf('api.stripe.com'),
        allowed_methods: listOf('POST'),
        allowed_paths: listOf('/v1/charges'),
        allowed_locations: listOf('header'),
        allowed_operations: listOf('query:viewer').optional(),
        read_only: z.literal(true).nullable().optional(),
        /** Each use needs this approval; the rest of the policy is then unproven. */
        approval: approval.nullable(),
      })
      .meta({ id: 'Credential' }),
  ),
  bare: true,
  faults: ['audit_unavailable'],
})

/** Lists the shapes of stand-ins. Includes values only of settings, for tokens that may read. */
export const listShapes = defineEndpoint({
  name: 'resolver.shapes',
  summary: 'List the formats of placeholder values for the credentials of this token',
  method: 'GET',
  path: '/v1/shapes/',
  access: { kind: 'token', capability: 'use', action: 'shapes.read' },
  query: z.object({ project_id: projectId.optional(), environment: environment.optional() }),
  result: z.array(
    z.object({
      name: text('STRIPE_API_KEY'),
      project_id: projectId,
      environment,
      allowed_locations: listOf('header'),
      shape: shape.nullable(),
      setting: text('eu-west-1').nullable(),
      reason: z.enum(unshapedCodes).nullable(),
    }),
  ),
  bare: true,
  faults: ['scope_required', 'audit_unavailable'],
})
