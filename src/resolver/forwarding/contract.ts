/** Forward mode: its settings, and a contract for each prefix and method. */
import { z } from 'zod'
import { MAX_REASON } from '../../core/crypto/approval/details.ts'
import { MAX_CALL_MS } from '../../core/policy/policy.ts'
import { line, wholeNumber } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { environment, projectId, rarelyNeeded } from '../../http/fields.ts'
import { FORWARD_PREFIX, forwardPrefixes } from '../../outbound/links.ts'
import { signing } from '../../outbound/signing/sign.ts'
import { MARK } from '../../outbound/stand_ins/mark.ts'
import { MAX_APPROVAL_WAIT_MS, outboundFaults } from '../contract.ts'

const EXAMPLE_SIGNING: z.input<typeof signing> = {
  type: 'aws-sigv4',
  access_key_id: 'SVC_SECRET_AWS_ACCESS_KEY_ID',
  secret_access_key: 'SVC_SECRET_AWS_SECRET_ACCESS_KEY',
  region: 'eu-central-1',
  service: 's3',
}

/** Headers of forward mode, `X-Service-Timeout-Ms` and so on, under their names in POST /v1/resolve. */
export const forwardSettings = z.strictObject({
  project: projectId.optional(),
  environment: environment.optional(),
  /** Links are rewritten to forward mode, with `none` not at all, or to a host that the caller chooses. */
  rewrite: z
    .string()
    .regex(/^(body|none|[a-z0-9]{20,40}\.invalid)$/, 'must be none')
    .meta({ examples: ['none'] })
    .optional(),
  timeout_ms: wholeNumber(1, MAX_CALL_MS).optional(),
  /** A local proxy shows the answer under the real host's name: rules for browsers do not apply. */
  proxy: z.enum(['true']).optional().meta(rarelyNeeded),
  /** Refuses a placeholder in a place that its secret's policy does not allow. */
  strict_placeholders: z.enum(['true', 'false']).optional(),
  /** Maximum wait for a member's approval. */
  approval_wait_ms: wholeNumber(0, MAX_APPROVAL_WAIT_MS).optional(),
  /** Shown to the member who approves. */
  reason: line(MAX_REASON).optional(),
  /** Passes the trace on to the upstream. */
  trace: z.enum(['true']).optional(),
  mark: z
    .string()
    .regex(MARK, 'must be 20 to 40 letters and digits between two ~')
    .meta({ examples: ['~8sJ2kQ7xWv0bT4mZ1nRc~'] })
    .optional(),
  sign: z
    .string()
    .meta({ examples: [JSON.stringify(EXAMPLE_SIGNING)] })
    .transform((text, context) => {
      const parsed = signing.safeParse(parseJson(text))
      if (parsed.success) return parsed.data
      context.addIssue({ code: 'custom', message: 'must be a signature as JSON' })
      return z.NEVER
    })
    .optional(),
})

const forwardMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
type ForwardMethod = (typeof forwardMethods)[number]

/** One contract per prefix and method; HEAD uses that of GET. */
export const forwardCalls = forwardPrefixes.flatMap((prefix) =>
  forwardMethods.map((method) => forwardCall(prefix, method)),
)

function forwardCall(prefix: (typeof forwardPrefixes)[number], method: ForwardMethod) {
  return defineEndpoint({
    name: `resolver.${prefix === FORWARD_PREFIX ? 'forward' : 'forward_unversioned'}.${method.toLowerCase()}`,
    summary: `Forward a ${method} request with inserted credentials, and stream the response`,
    method,
    path: `${prefix}{host}/{path}`,
    restOfPath: true,
    access: { kind: 'token', capability: 'use' },
    params: z.object({
      host: z.string().meta({ examples: ['api.example.com'] }),
      path: z.string().meta({ examples: ['v1/charges'] }),
    }),
    bare: true,
    forwards: forwardSettings,
    mediaType: '*/*',
    faults: ['payload_too_large', 'validation_error', ...outboundFaults],
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
