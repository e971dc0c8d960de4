/** The plaintext of a derived state (protocol 13.2). */
import { z } from 'zod'
import { ACCESS_KEY_ID, CREDENTIAL, REFRESH_TOKEN } from './credential.ts'

export const MAX_GUARDED = 32

const credentialText = z.string().regex(CREDENTIAL)
const unixMs = z.int().min(0)
const awsKeys = z.strictObject({
  access_key_id: z.string().regex(ACCESS_KEY_ID),
  secret_access_key: credentialText,
  session_token: credentialText,
})

/**
 * Times are Unix milliseconds; `derived_at` is when the request was sent. `credential` and both times are null in
 * the state of a secret that has only guarded values.
 */
export const stateForm = z.strictObject({
  v: z.literal(3),
  credential: z.union([credentialText, awsKeys]).nullable(),
  refresh_token: z.string().regex(REFRESH_TOKEN).nullable(),
  expires_at: unixMs.nullable(),
  derived_at: unixMs.nullable(),
  /** Replaced values, and when each may be forgotten. */
  guarded: z
    .array(z.strictObject({ value: z.string().regex(REFRESH_TOKEN), until: unixMs }))
    .max(MAX_GUARDED),
})

export type DerivedState = z.output<typeof stateForm>
export type GuardedValue = DerivedState['guarded'][number]
