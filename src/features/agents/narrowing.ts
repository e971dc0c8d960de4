/** What an order narrows its token to, on the wire. */
import { z } from 'zod'
import { SECRET_NAME } from '../../core/names/secret_name.ts'
import { allowedHost, rarelyNeeded } from '../../http/fields.ts'

const MAX_NARROWED = 100

/** A token that is narrowed is of use for these only (protocol 6.3); null narrows nothing. */
export const narrowing = {
  hosts: z.array(allowedHost).min(1).max(MAX_NARROWED).nullable().meta(rarelyNeeded).optional(),
  secrets: z
    .array(z.string().regex(new RegExp(`^${SECRET_NAME}$`), 'must be the name of a secret'))
    .min(1)
    .max(MAX_NARROWED)
    .nullable()
    .meta(rarelyNeeded)
    .optional(),
  limits: z.null('are not enforced by this version: leave them out').meta(rarelyNeeded).optional(),
}
