/** Accounts as data (protocol 3.1 and 5.1). */
import { z } from 'zod'
import { email, line } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import {
  exampleBytes,
  exampleOfForm,
  publicKey,
  rarelyNeeded,
  shownKeys,
  signingKey,
  text,
  userId,
  workspaceId,
} from '../../http/fields.ts'
import { keptGrants } from '../agents/contract.ts'
import { link, linkFaults } from '../links/contract.ts'
import { encryptedWorkspaceKey, workspaceShape } from '../workspaces/contract.ts'
import {
  currentPassword,
  defaultKdf,
  givenPassword,
  kdf,
  keyProof,
  keySalt,
  newPassword,
  ofPerson,
  personalWorkspace,
  recovery,
  replacement,
  user,
  wrappedKey,
} from './shapes.ts'

export * from './session_contract.ts'

export const prelogin = defineEndpoint({
  name: 'auth.prelogin',
  summary:
    'Get the key derivation parameters of an account; unknown addresses get stable fake ones',
  method: 'POST',
  ...ofPerson,
  path: '/api/auth/prelogin/',
  access: { kind: 'public', rate: 'login' },
  body: z.strictObject({ email }),
  result: z.object({ key_salt: text(exampleBytes(16)), kdf }),
})

export const register = defineEndpoint({
  name: 'auth.register',
  summary: 'Create an account, and its personal workspace if an envelope is included',
  method: 'POST',
  path: '/api/auth/register/',
  access: { kind: 'public', rate: 'register' },
  body: z.strictObject({
    /** Chosen by the client, where the first link of the workspace names it. */
    user_id: userId.meta(rarelyNeeded).optional(),
    email,
    password: newPassword,
    first_name: line(100, 0)
      .meta({ examples: ['Ada'] })
      .default(''),
    last_name: line(100, 0)
      .meta({ examples: ['Lovelace'] })
      .default(''),
    terms_agreement: z.boolean().default(false),
    public_key: publicKey,
    signing_key: signingKey.meta(rarelyNeeded).optional(),
    key_proof: keyProof.meta(rarelyNeeded).optional(),
    encrypted_private_key: wrappedKey,
    key_salt: keySalt,
    kdf: kdf.default(defaultKdf),
    recovery: recovery.optional(),
    workspace: personalWorkspace.optional(),
    /** OWNER_CODE, where the first account needs it; others do not. */
    owner_code: givenPassword.meta(rarelyNeeded).optional(),
  }),
  result: z.object({ user, workspace: workspaceShape.nullable() }),
  success: 201,
  faults: ['registration_closed', 'already_exists', 'link_required', 'link_refused'],
})

export const changePassword = defineEndpoint({
  name: 'auth.change_password',
  summary: 'Change the password and end the other sessions',
  method: 'POST',
  ...ofPerson,
  path: '/api/auth/change-password/',
  access: { kind: 'session' },
  body: z
    .strictObject({ current_password: currentPassword, ...replacement })
    .meta({ id: 'PasswordChange' }),
  faults: ['conflict'],
})

export const patchPassword = defineEndpoint({
  ...changePassword,
  name: 'auth.patch_password',
  method: 'PATCH',
})

const recoveryProof = {
  email,
  recovery_verifier: givenPassword.meta({
    examples: ['dmVyaWZpZXItb2YtdGhlLW9sZC1yZWNvdmVyeS1rZXk'],
  }),
}

export const beginRecovery = defineEndpoint({
  name: 'auth.recover.begin',
  summary: 'Get the account keys wrapped for recovery',
  method: 'POST',
  ...ofPerson,
  path: '/api/auth/recover/begin/',
  access: { kind: 'public', rate: 'login' },
  body: z.strictObject(recoveryProof),
  result: z.object({
    ...shownKeys,
    encrypted_private_key: text(exampleOfForm.wrappedKey),
  }),
  faults: ['invalid_credentials'],
})

export const recover = defineEndpoint({
  name: 'auth.recover',
  summary: 'Set a new password and recovery key with the current recovery key; ends all sessions',
  method: 'POST',
  ...ofPerson,
  path: '/api/auth/recover/',
  access: { kind: 'public', rate: 'login' },
  body: z
    .strictObject({ ...recoveryProof, ...replacement, recovery })
    // A recovery key is used once (protocol 3.1).
    .refine((body) => body.recovery.verifier !== body.recovery_verifier, {
      path: ['recovery', 'verifier'],
      message: 'must be different',
    }),
  faults: ['invalid_credentials'],
})

export const replaceRecovery = defineEndpoint({
  name: 'auth.recovery.replace',
  summary: 'Set or replace the recovery key',
  method: 'PUT',
  ...ofPerson,
  path: '/api/auth/recovery/',
  access: { kind: 'session' },
  body: z.strictObject({ current_password: currentPassword, recovery }),
  faults: ['conflict'],
})

export const deleteAccount = defineEndpoint({
  name: 'auth.delete_account',
  summary: 'Delete the account and its personal workspace, and leave all other workspaces',
  method: 'POST',
  path: '/api/auth/delete-account/',
  access: { kind: 'session' },
  body: z.strictObject({ current_password: currentPassword }),
  faults: ['conflict', 'last_owner'],
})

export const getMe = defineEndpoint({
  name: 'users.me',
  summary: 'Get the current account',
  method: 'GET',
  path: '/api/users/me/',
  access: { kind: 'session' },
  result: user,
})

export const getPublicKey = defineEndpoint({
  name: 'users.public_key',
  summary: 'Get the public keys of an account, to seal a workspace key',
  method: 'GET',
  path: '/api/users/{email}/public-key/',
  access: { kind: 'session' },
  params: z.object({ email }),
  result: z.object({
    user_id: userId,
    email: text('ada@example.com'),
    ...shownKeys,
    key_proof: text(exampleOfForm.keyProof).nullable(),
    fingerprint: text('mq5h 7xwa 3kzt c2fd yb6e uo4r'),
  }),
})

const BODY_LIMIT = 8 * 1024 * 1024
/** Fewer than chains are kept verified at once: each is needed in the one transaction. */
const MAX_WORKSPACES = 500

const workspace = z.strictObject({
  workspace_id: workspaceId,
  /** Sealed to the new key. */
  encrypted_workspace_key: encryptedWorkspaceKey,
  /** The epoch of the key inside. If given, it must be the current one. */
  epoch: z.number().int().min(1).optional(),
  link,
  grants: keptGrants,
})

export const replaceKeys = defineEndpoint({
  name: 'users.replace_keys',
  summary: 'Replace the account keys, or add its first signing key; ends other sessions',
  method: 'POST',
  path: '/api/users/me/keys/',
  access: { kind: 'session' },
  body: z.strictObject({
    current_password: currentPassword,
    signing_key: signingKey.meta({ examples: [exampleOfForm.signingKey] }),
    public_key: publicKey,
    key_proof: keyProof,
    encrypted_private_key: wrappedKey,
    recovery: recovery.optional(),
    workspaces: z.array(workspace).max(MAX_WORKSPACES),
  }),
  bodyLimit: BODY_LIMIT,
  faults: ['epoch_conflict', ...linkFaults],
})
