/** What an order narrows its token to, on the wire. */
import { z } from 'zod'
import { rarelyNeeded } from '../../platform/http/fields.ts'
import { parseDomain } from '../../platform/net/domain.ts'
import { SECRET_NAME } from '../../platform/secret_name.ts'

const MAX_NARROWED = 100
const host = z
  .string()
  .transform((text, context) => {
    const domain = parseDomain(text)
    if (domain) return domain.text
    context.addIssue({
      code: 'custom',
      message: 'must be a host of the allowlist, such as api.stripe.com',
    })
    return z.NEVER
  })
  .meta({ examples: ['api.stripe.com'] })

/** A token that is narrowed is of use for these only (protocol 6.3); null narrows nothing. */
export const narrowing = {
  hosts: z.array(host).min(1).max(MAX_NARROWED).nullable().meta(rarelyNeeded).optional(),
  secrets: z
    .array(z.string().regex(new RegExp(`^${SECRET_NAME}$`), 'must be the name of a secret'))
    .min(1)
    .max(MAX_NARROWED)
    .nullable()
    .meta(rarelyNeeded)
    .optional(),
  limits: z.null('are not enforced by this version: leave them out').meta(rarelyNeeded).optional(),
}
