/**
 * The policy of a secret (protocol 5.5): it narrows where a value may go and in
 * which places it may stand. The ciphertext binds the policy as its author wrote it, so it is
 * checked here but never normalised: a rewritten policy would make its secret unreadable.
 */
import { z } from 'zod'
import { tokenPattern } from './http/token_pattern.ts'
import { parseDomain } from './net/domain.ts'

const MAX_ENTRIES = 100
const PATH = /^\/[^?#\p{Cc}\p{Cs}]*$/u
const HEADER = tokenPattern(128)

const policyMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
const policyLocations = ['header', 'basic', 'query', 'path', 'json', 'form', 'env'] as const

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

const listOf = <T extends z.ZodType>(entry: T) => z.array(entry).max(MAX_ENTRIES).optional()

const shape = z.strictObject({
  allowed_domains: listOf(domain),
  allowed_methods: listOf(z.enum(policyMethods).meta({ examples: ['POST'] })),
  allowed_paths: listOf(path),
  allowed_headers: listOf(header),
  allowed_locations: listOf(z.enum(policyLocations).meta({ examples: ['header'] })),
})

/** An absent list narrows nothing, an empty one allows nothing. */
export type Policy = z.output<typeof shape>

const { $schema: _, ...documentation } = z.toJSONSchema(shape.nullable(), { io: 'input' })

/** A policy where a contract takes any value, as an example. */
export const examplePolicy: Policy = {
  allowed_domains: ['api.stripe.com'],
  allowed_methods: ['POST'],
}

/** What was stored as a policy; whether it is the one that is there is for others to say. */
export const sentPolicy = z.unknown().meta(documentation)

/** A policy, or `null` for none. The output is the very object that was sent. */
export const policy = z
  .unknown()
  .superRefine((sent, context) => {
    const checked = shape.nullable().safeParse(sent, { reportInput: true })
    for (const issue of checked.error?.issues ?? []) context.addIssue({ ...issue })
  })
  .transform((sent) => sent as Policy | null)
  .meta(documentation)
