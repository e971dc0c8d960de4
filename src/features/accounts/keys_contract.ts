/** New keys of an account as data (protocol 5.1). */
import { z } from 'zod'
import { defineEndpoint } from '../../http/endpoint.ts'
import { exampleOfForm, publicKey, signingKey, workspaceId } from '../../http/fields.ts'
import { keptGrants } from '../agents/contract.ts'
import { link, linkFaults } from '../links/contract.ts'
import { encryptedWorkspaceKey } from '../workspaces/contract.ts'
import { currentPassword, keyProof, recovery, wrappedKey } from './shapes.ts'

const BODY_LIMIT = 8 * 1024 * 1024
/** Fewer than chains are kept verified at once: each is needed in the one transaction. */
const MAX_WORKSPACES = 500

const workspace = z.strictObject({
  workspace_id: workspaceId,
  /** Sealed to the new key. */
  encrypted_workspace_key: encryptedWorkspaceKey,
  /** Of the key inside; when given it must be the current one. */
  epoch: z.number().int().min(1).optional(),
  link,
  grants: keptGrants,
})

export const replaceKeys = defineEndpoint({
  name: 'users.replace_keys',
  summary: 'Replace the keys of the account, or give it its first signing key; ends other sessions',
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
