/** Fields that the contracts of accounts and sessions have in common. */
import { z } from 'zod'
import { base64, timestamp, uuid } from '../../platform/http/validate.ts'

/** Bytes; the form of section 3.1 has 61, other clients may use another. */
const MAX_WRAPPED_KEY_BYTES = 4096
const MAX_PASSWORD = 1024

/** Opaque to the server: what a client derived, never what the person typed. */
export const newPassword = z.string().min(8).max(MAX_PASSWORD)
/** No least length here: a wrong password is wrong, however short. */
export const givenPassword = z.string().min(1).max(MAX_PASSWORD)

export const wrappedKey = base64(MAX_WRAPPED_KEY_BYTES).refine(
  (text) => text !== '',
  'must not be empty',
)
export const keySalt = base64(16, 16)
export const publicKey = base64(32, 32)

/** From the weakest that clients accept to the dearest that one can be expected to compute. */
export const kdf = z.strictObject({
  algorithm: z.literal('argon2id'),
  memory_kib: z.number().int().min(65_536).max(1_048_576),
  iterations: z.number().int().min(3).max(16),
  parallelism: z.number().int().min(4).max(16),
})

/** The parameters of section 3.1, meant where a client sends none. */
export const defaultKdf: z.output<typeof kdf> = {
  algorithm: 'argon2id',
  memory_kib: 65_536,
  iterations: 3,
  parallelism: 4,
}

export const recovery = z.strictObject({ verifier: newPassword, encrypted_private_key: wrappedKey })

/** What replaces a password: the private key is the same, wrapped under what the new one derives. */
export const replacement = {
  new_password: newPassword,
  key_salt: keySalt,
  kdf: kdf.default(defaultKdf),
  encrypted_private_key: wrappedKey,
}

export const user = z.object({
  id: uuid,
  email: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  public_key: z.string(),
  is_instance_owner: z.boolean(),
  created_at: timestamp,
  updated_at: timestamp,
})

export const sessionPair = {
  access: z.string(),
  refresh: z.string(),
  /** Of the access token. */
  expires_at: timestamp,
}
