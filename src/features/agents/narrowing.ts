/** The fields of an order that narrow its token. */
import { z } from 'zod'
import { SECRET_NAME } from '../../core/names/secret_name.ts'
import { allowedHost, integer, rarelyNeeded, text } from '../../http/fields.ts'

const MAX_NARROWED = 100

const limit = z
  .number()
  .int()
  .min(1)
  .max(Number.MAX_SAFE_INTEGER)
  .meta({ examples: [1000] })
  .nullable()

/** How much a token may do (protocol 6.3). Null, or a missing field, limits nothing. */
const limits = z
  .strictObject({
    calls_per_minute: limit.default(null),
    calls_per_day: limit.default(null),
    concurrent_calls: limit.default(null),
    bytes_per_day: limit.default(null),
    model_tokens_per_day: limit.default(null),
  })
  .refine((given) => Object.values(given).some((one) => one !== null), 'must limit something')
  .meta({ id: 'TokenLimits' })

const shownLimit = integer(1000).nullable()

const shownLimits = z.object({
  calls_per_minute: shownLimit,
  calls_per_day: shownLimit,
  concurrent_calls: shownLimit,
  bytes_per_day: shownLimit,
  model_tokens_per_day: shownLimit,
})

/** A token's spending today, UTC. */
const spent = z.object({
  calls_today: integer(412),
  bytes_today: integer(1_048_576),
  model_tokens_today: integer(120_000),
  running: integer(1),
})

/** The same fields in lists. Only tokens with limits have `spent`. */
export const shownNarrowing = {
  hosts: z.array(text('api.stripe.com')).nullable().meta(rarelyNeeded),
  secrets: z.array(text('STRIPE_API_KEY')).nullable().meta(rarelyNeeded),
  limits: shownLimits.nullable().meta(rarelyNeeded),
  spent: spent.meta(rarelyNeeded).optional(),
}

/** A narrowed token can do nothing else (protocol 6.3). Null means no restriction. */
export const narrowing = {
  hosts: z.array(allowedHost).min(1).max(MAX_NARROWED).nullable().meta(rarelyNeeded).optional(),
  secrets: z
    .array(z.string().regex(new RegExp(`^${SECRET_NAME}$`), 'must be a secret name'))
    .min(1)
    .max(MAX_NARROWED)
    .nullable()
    .meta(rarelyNeeded)
    .optional(),
  limits: limits.nullable().meta(rarelyNeeded).optional(),
}
