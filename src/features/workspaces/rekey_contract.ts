import { z } from 'zod'
import { fromBase64 } from '../../platform/crypto/encoding.ts'
import { isTokenEnvelope } from '../../platform/crypto/envelope.ts'
import { defineEndpoint, type InputOf } from '../../platform/http/endpoint.ts'
import { base64, environmentName, uuid } from '../../platform/http/validate.ts'
import { encryptedWorkspaceKey, workspaceShape } from './shapes.ts'

/** A rekey carries the whole workspace. */
const BODY_LIMIT = 32 * 1024 * 1024
/** Decoded; as for the secrets' own endpoints. */
const MAX_VALUE_BYTES = 98_304
const MAX_ENVELOPE_BYTES = 81
const MAX_EPOCH = 65_535

const member = z.strictObject({ user_id: uuid, encrypted_workspace_key: encryptedWorkspaceKey })

const tokenEnvelope = z.strictObject({
  project_id: uuid,
  environment: environmentName,
  /** When given, the new epoch. */
  epoch: z.number().int().optional(),
  /** The server opens these itself, so they have one form (section 3.2). */
  envelope: base64(MAX_ENVELOPE_BYTES).refine(
    (text) => isTokenEnvelope(fromBase64(text) ?? new Uint8Array()),
    'must be a token envelope',
  ),
})

const token = z.strictObject({
  token_id: uuid,
  envelopes: onceEach(tokenEnvelope, (entry) => [entry.project_id, entry.environment]),
})

const secret = z.strictObject({
  project_id: uuid,
  environment: environmentName,
  key: z.string().max(128),
  value: base64(MAX_VALUE_BYTES).refine((text) => text !== '', 'must not be empty'),
  /** Equal to the stored one; absent for none. */
  policy: z.unknown().optional(),
})

export const rekeyWorkspace = defineEndpoint({
  name: 'workspaces.rekey',
  summary: 'Replace the workspace key: every envelope and every secret, sealed anew, in one step',
  method: 'POST',
  path: '/api/workspaces/{workspace_id}/rekey/',
  access: { kind: 'member', permission: 'workspace.update', tenant: 'path.workspace_id' },
  params: z.object({ workspace_id: uuid }),
  body: z.strictObject({
    /** The new one: the current one and 1. */
    epoch: z.number().int().min(2).max(MAX_EPOCH),
    members: onceEach(member, (entry) => [entry.user_id]),
    tokens: onceEach(token, (entry) => [entry.token_id]),
    secrets: onceEach(secret, (entry) => [entry.project_id, entry.environment, entry.key]),
  }),
  bodyLimit: BODY_LIMIT,
  result: workspaceShape,
  faults: ['epoch_conflict', 'conflict'],
})

export type RekeyBody = InputOf<typeof rekeyWorkspace, 'body'>

/** A list in which nothing is named twice. */
function onceEach<T extends z.ZodType>(entry: T, identityOf: (entry: z.output<T>) => string[]) {
  return z.array(entry).superRefine((entries, context) => {
    const seen = new Set<string>()
    for (const [index, each] of entries.entries()) {
      const identity = identityOf(each).join(' ')
      if (seen.has(identity))
        context.addIssue({ code: 'custom', path: [index], message: 'is named twice' })
      seen.add(identity)
    }
  })
}
