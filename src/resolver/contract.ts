import { z } from 'zod'
import { defineEndpoint } from '../kernel/endpoint.ts'
import { environmentName, uuid } from '../kernel/validate.ts'

/** Bytes of a request to the resolver, body and all, and of an upstream's decoded body. */
export const RESOLVER_BODY_LIMIT = 10 * 1024 * 1024

export const outboundMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

const outboundCall = z
  .strictObject({
    target_url: z.string(),
    method: z.enum(outboundMethods).default('GET'),
    headers: z.record(z.string(), z.string()).default({}),
    body: z.string().nullish(),
    body_encoding: z.literal('base64').nullish(),
    project_id: uuid.nullish(),
    environment: environmentName.nullish(),
    timeout_ms: z.number().int().min(1).max(120_000).nullish(),
  })
  .superRefine(({ method, body, body_encoding }, context) => {
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    if (typeof body === 'string' && (method === 'GET' || method === 'HEAD')) {
      refuse('body', 'is not possible with GET or HEAD')
    }
    if (body_encoding && !isBase64(body ?? ''))
      refuse('body', 'must be canonical base64 with padding')
  })

export type OutboundCall = z.output<typeof outboundCall>

export const resolveCall = defineEndpoint({
  name: 'resolver.resolve',
  summary: 'Send a request with credentials put in, and answer the sanitised response',
  method: 'POST',
  path: '/v1/resolve',
  access: { kind: 'token' },
  body: outboundCall,
  bodyLimit: RESOLVER_BODY_LIMIT,
  result: z.object({
    status_code: z.number().int(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    body_encoding: z.literal('base64').optional(),
    redacted: z.boolean(),
  }),
  bare: true,
  faults: [
    'invalid_target',
    'invalid_header',
    'forbidden_header',
    'domain_blocked',
    'address_blocked',
    'policy_blocked',
    'scope_required',
    'key_not_provisioned',
    'unknown_secret',
    'ambiguous_secret',
    'unusable_secret',
    'unreadable_secret',
    'upstream_unreachable',
    'upstream_tls_error',
    'upstream_too_large',
    'upstream_protocol_error',
    'upstream_timeout',
    'audit_unavailable',
  ],
})

function isBase64(text: string): boolean {
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' }).toBase64() === text
  } catch {
    return false
  }
}
