/** Fields that the contracts of accounts and sessions have in common. */
import { z } from 'zod'
import { base64, timestamp } from '../../core/validation/validate.ts'
import {
  exampleBytes,
  exampleOfForm,
  exampleToken,
  id,
  shownKeys,
  text,
} from '../../http/fields.ts'
import { link } from '../links/contract.ts'
import { encryptedWorkspaceKey, workspaceName } from '../workspaces/contract.ts'

/** Bytes; the form of protocol 3.1 has 61, other clients may use another. */
const MAX_WRAPPED_KEY_BYTES = 4096
const MAX_PASSWORD = 1024

/** Opaque to the server: what a client derived, never what the person typed. */
export const newPassword = z
  .string()
  .min(8)
  .max(MAX_PASSWORD)
  .meta({ examples: ['ZGVyaXZlZC1mcm9tLXRoZS1wYXNzd29yZA'] })
/** No least length here: a wrong password is wrong, however short. */
export const givenPassword = z
  .string()
  .min(1)
  .max(MAX_PASSWORD)
  .meta({ examples: ['ZGVyaXZlZC1mcm9tLXRoZS1wYXNzd29yZA'] })

export const currentPassword = givenPassword.meta({
  examples: ['cHJldmlvdXMtYXV0aC1rZXktb2YtdGhlLWNsaWVudA'],
})

export const wrappedKey = base64(MAX_WRAPPED_KEY_BYTES, 1).meta({
  examples: [exampleOfForm.wrappedKey],
})
/** By it an address and both keys belong together. */
export const keyProof = base64(64, 64).meta({ examples: [exampleOfForm.keyProof] })
export const keySalt = base64(16, 16).meta({ examples: [exampleBytes(16)] })

/** From the weakest that clients accept to the dearest that one can be expected to compute. */
export const kdf = z.strictObject({
  algorithm: z.literal('argon2id'),
  memory_kib: z.number().int().min(65_536).max(1_048_576),
  iterations: z.number().int().min(3).max(16),
  parallelism: z.number().int().min(4).max(16),
})

/** The parameters of protocol 3.1, meant where a client sends none. */
export const defaultKdf: z.output<typeof kdf> = {
  algorithm: 'argon2id',
  memory_kib: 65_536,
  iterations: 3,
  parallelism: 4,
}

export const recovery = z
  .strictObject({
    verifier: newPassword.meta({ examples: ['dmVyaWZpZXItb2YtdGhlLW5ldy1yZWNvdmVyeS1rZXk'] }),
    encrypted_private_key: wrappedKey,
  })
  .meta({ id: 'Recovery' })

/** The replacement of a password: the same private key, wrapped with keys derived from the new password. */
export const replacement = {
  new_password: newPassword.meta({ examples: ['ZGVyaXZlZC1mcm9tLXRoZS1uZXctcGFzc3dvcmQ'] }),
  key_salt: keySalt,
  kdf: kdf.default(defaultKdf),
  encrypted_private_key: wrappedKey,
}

export const user = z
  .object({
    id,
    email: text('ada@example.com'),
    first_name: text('Ada'),
    last_name: text('Lovelace'),
    ...shownKeys,
    is_instance_owner: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'User' })

/** A session as its own person sees it. */
export const session = z
  .object({
    id,
    user_agent: text('cloakroom/0.1.0'),
    /** The one that asks. */
    current: z.boolean(),
    last_used_at: timestamp,
    expires_at: timestamp,
    created_at: timestamp,
  })
  .meta({ id: 'Session' })

export const refreshToken = z
  .string()
  .max(256)
  .meta({ examples: [exampleToken('ref')] })

export const sessionPair = {
  access: text(exampleToken('ses')),
  refresh: text(exampleToken('ref')),
  /** The end of the access token. */
  expires_at: timestamp,
}

/** The workspace that an account begins with. */
export const personalWorkspace = z.strictObject({
  id: id.optional(),
  name: workspaceName.default('Personal'),
  encrypted_workspace_key: encryptedWorkspaceKey,
  /** Signs the workspace. Its ID is then a UUID of version 8. */
  link,
})

/** The audit is kept by workspace, and these concern a person. */
export const ofPerson = { unrecorded: 'changes an account, not a workspace' } as const
