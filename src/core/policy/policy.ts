/**
 * The policy of a secret (protocol 5.5): it limits where a value may be sent, the locations in which it may be used,
 * and the texts that may be signed with it. The ciphertext binds the policy as its author wrote it, so it is checked
 * here but never normalised: a rewritten policy would make its secret unreadable.
 */
import { z } from 'zod'
import { parseDomain } from '../net/domain.ts'
import { tokenPattern } from '../token_pattern.ts'
import { line } from '../validation/validate.ts'
import { isOperation } from './operations.ts'

const MAX_ENTRIES = 100
/** Characters of the text to sign, as the agent wrote it; protocol 6.5. */
export const MAX_TEMPLATE = 1024
const PATH = /^\/[^?#\p{Cc}\p{Cs}]*$/u
const HEADER = tokenPattern(128)

/** Milliseconds that a call may take at most, and an API may be silent. */
export const MAX_CALL_MS = 600_000
/** The methods that calls may have, and that a policy may name. */
export const callMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
/** Places in a call where a value may be used; `env` is a variable. */
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
  .refine((text) => parseDomain(text) !== null, 'must be a host such as *.example.com:8443')
  .meta({ examples: ['api.stripe.com'] })

/** A prefix of the normalised path: no query, no fragment, nothing that cannot be printed. */
const path = z
  .string()
  .max(2048)
  .refine((text) => PATH.test(text), 'must begin with / and have no query or fragment')
  .meta({ examples: ['/v1/charges'] })

const header = z
  .string()
  .refine((text) => HEADER.test(text), 'must be a header name')
  .meta({ examples: ['Authorization'] })

/** Compared unchanged with the template of a call. */
const template = z
  .string()
  .max(MAX_TEMPLATE)
  .refine((text) => text.isWellFormed(), 'must be text')
  .meta({ examples: ['{timestamp}.{body}'] })

/** An operation of GraphQL or JSON-RPC, such as `query:viewer` or `rpc:tools/call:search_issues`. */
const operation = z
  .string()
  .max(300)
  .refine(isOperation, 'must be an operation such as query:viewer or rpc:tools/list')
  .meta({ examples: ['query:viewer'] })

/** Credentials that are derived from a stored root during a call (protocol 13). */
export const derivedKinds = ['oauth2', 'github_app', 'aws_role'] as const
export type DerivedKind = (typeof derivedKinds)[number]

/** Approvers of a held secret's use: any member who may write secrets, or owners and admins only. */
export const approvers = ['member', 'admin'] as const
export type Approver = (typeof approvers)[number]
/** The maximum duration of a release: a day. */
export const MAX_APPROVAL_SECONDS = 86_400

export const approval = z.strictObject({
  by: z.enum(approvers).meta({ examples: ['member'] }),
  /** 0 releases each use separately. */
  ttl_seconds: z
    .int()
    .min(0)
    .max(MAX_APPROVAL_SECONDS)
    .meta({ examples: [900] }),
})

const listOf = <T extends z.ZodType>(entry: T) => z.array(entry).max(MAX_ENTRIES).optional()

const fields = z.strictObject({
  allowed_domains: listOf(domain),
  allowed_methods: listOf(z.enum(callMethods).meta({ examples: ['POST'] })),
  allowed_paths: listOf(path),
  allowed_headers: listOf(header),
  allowed_locations: listOf(z.enum(policyLocations).meta({ examples: ['header'] })),
  sign_templates: listOf(template),
  allowed_operations: listOf(operation),
  /** Calls may only read. */
  read_only: z.literal(true).optional(),
  /** In Basic credentials the value is form-encoded first, as RFC 6749, section 2.3.1, has it. */
  basic_encoding: z.literal('form').optional(),
  /** A setting is neither masked nor guarded. */
  sensitive: z.literal(false).optional(),
  /** `${NAME}` in the value represents another secret. */
  references: z.literal(true).optional(),
  /** The value is a root, and calls get the credential that is derived from it. */
  kind: z.enum(derivedKinds).optional(),
  /** Each use needs a member's approval: the value is sealed under a key that no token gets (protocol 14). */
  approval: approval.optional(),
  description: line(500, 0)
    .meta({ examples: ['Charges cards of the test account'] })
    .optional(),
})

type Sent = z.output<typeof fields>
type Complaint = { path: (string | number)[]; message: string }

/** A root is never delivered or put together, so it cannot be a setting or refer to other secrets. */
function complaintsOfRoot({ kind, ...others }: Sent): Complaint[] {
  if (kind === undefined) return []
  return (['references', 'sensitive'] as const).flatMap((name) =>
    others[name] === undefined ? [] : [{ path: [name], message: 'cannot be combined with kind' }],
  )
}

/** No token opens a held secret: nothing can be derived from it, delivered, put together or signed with it. */
function complaintsOfHeld({ approval, ...others }: Sent): Complaint[] {
  if (approval === undefined) return []
  const message = 'cannot be combined with approval'
  const fields = (['kind', 'references', 'sensitive'] as const).filter(
    (name) => others[name] !== undefined,
  )
  const locations = (others.allowed_locations ?? []).flatMap((location, index) =>
    location === 'env' || location === 'sign' ? [['allowed_locations', index]] : [],
  )
  return [...fields.map((name) => [name]), ...locations].map((path) => ({ path, message }))
}

const shape = fields.superRefine((sent, context) => {
  for (const complaint of [...complaintsOfRoot(sent), ...complaintsOfHeld(sent)])
    context.addIssue({ code: 'custom', ...complaint })
})

/** An absent list narrows nothing, an empty one allows nothing. */
export type Policy = Sent

const { $schema: _, ...documentation } = z.toJSONSchema(fields.nullable(), { io: 'input' })

/** An example for contracts that accept any value as a policy. */
export const examplePolicy: Policy = {
  allowed_domains: ['api.stripe.com'],
  allowed_methods: ['POST'],
}

/** A stored policy. Callers check whether it is the current one. */
export const sentPolicy = z.unknown().meta(documentation)

/** Whether a value is masked and guarded: yes, unless its policy marks it as a setting. */
export function isSensitive(policy: unknown): boolean {
  return (policy as Policy | null | undefined)?.sensitive !== false
}

type Location = (typeof policyLocations)[number]

/** Locations of a secret with a policy that lists none (protocol 5.5). */
export const USUAL_LOCATIONS: readonly Location[] = ['header', 'basic', 'env']

const HELD_LOCATIONS = USUAL_LOCATIONS.filter((location) => location !== 'env')

/** Returns the locations that a policy allows. */
export function listAllowedLocations(policy: Policy | null): readonly Location[] {
  return policy?.allowed_locations ?? (isHeld(policy) ? HELD_LOCATIONS : USUAL_LOCATIONS)
}

/** Whether each use needs an approval. */
export function isHeld(policy: unknown): boolean {
  return (policy as Policy | null | undefined)?.approval !== undefined
}

/** The approver that a held secret demands, `null` for other secrets. An unknown approver counts as `admin`. */
export function readApprover(policy: unknown): Approver | null {
  if (!isHeld(policy)) return null
  return (policy as Policy).approval?.by === 'member' ? 'member' : 'admin'
}

/**
 * Whether a value may be a variable of a program. Roots and held secrets may not, nor values whose policy lists places
 * without `env`.
 */
export function isDeliverable(policy: unknown): boolean {
  return !isRoot(policy) && mayBeVariable(policy)
}

/** Whether a value is a root, which no program gets. */
export function isRoot(policy: unknown): boolean {
  return (policy as Policy | null | undefined)?.kind !== undefined
}

/** Whether a derived credential may be a variable of a program; `signs` for an AWS role, which only signs. */
export function readDerivedVariable(policy: unknown): 'delivered' | 'signs' | null {
  const { kind } = (policy ?? {}) as Policy
  if (kind === undefined || !mayBeVariable(policy)) return null
  return kind === 'aws_role' ? 'signs' : 'delivered'
}

function mayBeVariable(policy: unknown): boolean {
  if (isHeld(policy)) return false
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
