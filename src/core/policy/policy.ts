/**
 * The policy of a secret (protocol 5.5): it narrows where a value may go, in which places it may stand
 * and what may be signed with it. The ciphertext binds the policy as its author wrote it, so it is
 * checked here but never normalised: a rewritten policy would make its secret unreadable.
 */
import { z } from 'zod'
import { parseDomain } from '../net/domain.ts'
import { tokenPattern } from '../token_pattern.ts'
import { line } from '../validation/validate.ts'
import { isOperation } from './operations.ts'

const MAX_ENTRIES = 100
/** Characters of what is signed, as the agent wrote it; protocol 6.5. */
export const MAX_TEMPLATE = 1024
const PATH = /^\/[^?#\p{Cc}\p{Cs}]*$/u
const HEADER = tokenPattern(128)

/** Milliseconds that a call may take at most, and an API may be silent. */
export const MAX_CALL_MS = 600_000
/** The methods that calls may have, and that a policy may name. */
export const callMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
/** Where in a call a value may stand, or that it may be a variable. */
export const policyLocations = [
  'header',
  'basic',
  'query',
  'path',
  'json',
  'form',
  'websocket',
  'env',
  'sign',
] as const

const domain = z
  .string()
  .max(300)
  .refine((text) => parseDomain(text) !== null, 'must be in the syntax of the allowlist')
  .meta({ examples: ['api.stripe.com'] })

/** A prefix of the normalised path: no query, no fragment, nothing that cannot be printed. */
const path = z
  .string()
  .max(2048)
  .refine((text) => PATH.test(text), 'must begin with / and hold neither query nor fragment')
  .meta({ examples: ['/v1/charges'] })

const header = z
  .string()
  .refine((text) => HEADER.test(text), 'must be the name of a header')
  .meta({ examples: ['Authorization'] })

/** Compared as it stands with the template of a call. */
const template = z
  .string()
  .max(MAX_TEMPLATE)
  .refine((text) => text.isWellFormed(), 'must be text')
  .meta({ examples: ['{timestamp}.{body}'] })

/** Of GraphQL, such as `query:viewer`, or of JSON-RPC, such as `rpc:tools/call:search_issues`. */
const operation = z
  .string()
  .max(300)
  .refine(isOperation, 'must be an operation such as query:viewer or rpc:tools/list')
  .meta({ examples: ['query:viewer'] })

/** Credentials that are derived from a stored root during a call (protocol 13). */
export const derivedKinds = ['oauth2', 'github_app', 'aws_role'] as const
export type DerivedKind = (typeof derivedKinds)[number]

const listOf = <T extends z.ZodType>(entry: T) => z.array(entry).max(MAX_ENTRIES).optional()

const fields = z.strictObject({
  allowed_domains: listOf(domain),
  allowed_methods: listOf(z.enum(callMethods).meta({ examples: ['POST'] })),
  allowed_paths: listOf(path),
  allowed_headers: listOf(header),
  allowed_locations: listOf(z.enum(policyLocations).meta({ examples: ['header'] })),
  sign_templates: listOf(template),
  allowed_operations: listOf(operation),
  /** Only what reads is let through. */
  read_only: z.literal(true).optional(),
  /** In Basic credentials the value is form-encoded first, as RFC 6749, section 2.3.1, has it. */
  basic_encoding: z.literal('form').optional(),
  /** A setting is neither masked nor guarded. */
  sensitive: z.literal(false).optional(),
  /** `${NAME}` in the value stands for another secret. */
  references: z.literal(true).optional(),
  /** The value is a root, and calls get the credential that is derived from it. */
  kind: z.enum(derivedKinds).optional(),
  description: line(500, 0)
    .meta({ examples: ['Charges cards of the test account'] })
    .optional(),
})

/** A root is never delivered or put together, so it cannot be a setting or refer to other secrets. */
const shape = fields.superRefine(({ kind, ...others }, context) => {
  if (kind === undefined) return
  for (const name of ['references', 'sensitive'] as const) {
    if (others[name] === undefined) continue
    context.addIssue({ code: 'custom', path: [name], message: 'cannot be combined with kind' })
  }
})

/** An absent list narrows nothing, an empty one allows nothing. */
export type Policy = z.output<typeof fields>

const { $schema: _, ...documentation } = z.toJSONSchema(fields.nullable(), { io: 'input' })

/** A policy where a contract takes any value, as an example. */
export const examplePolicy: Policy = {
  allowed_domains: ['api.stripe.com'],
  allowed_methods: ['POST'],
}

/** What was stored as a policy; whether it is the one that is there is for others to say. */
export const sentPolicy = z.unknown().meta(documentation)

/** Whether a value is to be masked and guarded: all are, unless their policy says that they are settings. */
export function isSensitive(policy: unknown): boolean {
  return (policy as Policy | null | undefined)?.sensitive !== false
}

type Location = (typeof policyLocations)[number]

/** Where a secret may stand whose policy does not say (protocol 5.5). */
export const USUAL_LOCATIONS: readonly Location[] = ['header', 'basic', 'env']

/** Where a secret of this policy may stand. */
export function allowedLocations(policy: Policy | null): readonly Location[] {
  return policy?.allowed_locations ?? USUAL_LOCATIONS
}

/** Whether a value may be a variable of a program: no root may, and no value whose policy lists places without `env`. */
export function isDeliverable(policy: unknown): boolean {
  return !isRoot(policy) && mayBeVariable(policy)
}

/** Whether a value is a root, which no program gets. */
export function isRoot(policy: unknown): boolean {
  return (policy as Policy | null | undefined)?.kind !== undefined
}

/** Whether a derived credential may be a variable of a program; `signs` for an AWS role, which only signs. */
export function derivedVariable(policy: unknown): 'delivered' | 'signs' | null {
  const { kind } = (policy ?? {}) as Policy
  if (kind === undefined || !mayBeVariable(policy)) return null
  return kind === 'aws_role' ? 'signs' : 'delivered'
}

function mayBeVariable(policy: unknown): boolean {
  return (policy as Policy | null | undefined)?.allowed_locations?.includes('env') ?? true
}

/** A policy, or `null` for none. The output is the very object that was sent. */
export const policy = z
  .unknown()
  .superRefine((sent, context) => {
    const checked = shape.nullable().safeParse(sent, { reportInput: true })
    for (const issue of checked.error?.issues ?? []) context.addIssue({ ...issue })
  })
  .transform((sent) => sent as Policy | null)
  .meta({ ...documentation, examples: [examplePolicy], id: 'Policy' })
