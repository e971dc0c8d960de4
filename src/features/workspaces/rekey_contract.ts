import { z } from 'zod'
import { fromBase64 } from '../../core/crypto/encoding.ts'
import { isTokenEnvelope } from '../../core/crypto/envelope.ts'
import { sentPolicy } from '../../core/policy/policy.ts'
import { base64 } from '../../core/validation/validate.ts'
import { defineEndpoint, type InputOf } from '../../http/endpoint.ts'
import {
  environment,
  exampleOfForm,
  projectId,
  rarelyNeeded,
  signedText,
  statementBeside,
  tokenId,
  userId,
  workspaceId,
} from '../../http/fields.ts'
import { link, linkFaults } from '../links/contract.ts'
import { encryptedWorkspaceKey, workspaceShape } from './shapes.ts'

/** A rekey carries the whole workspace. */
const BODY_LIMIT = 32 * 1024 * 1024
/** Decoded; as for the secrets' own endpoints. */
const MAX_VALUE_BYTES = 98_304
const MAX_ENVELOPE_BYTES = 81
/** More than a body can hold of them, or near it. */
const MAX_MEMBERS = 10_000
const MAX_TOKENS = 100_000
const MAX_ENVELOPES = 10_000
const MAX_SECRETS = 200_000
const MAX_MANIFESTS = 20_000

/** Any: one that is not the next is a conflict with the state, however far off it is. */
const integer = z.number().refine(Number.isInteger, 'must be an integer').meta({ type: 'integer' })

const member = z.strictObject({ user_id: userId, encrypted_workspace_key: encryptedWorkspaceKey })

const tokenEnvelope = z.strictObject({
  project_id: projectId,
  environment,
  /** When given, the new epoch. */
  epoch: integer.optional(),
  /** The server opens these itself, so they have one form (protocol 3.2). */
  envelope: base64(MAX_ENVELOPE_BYTES)
    .refine(
      (text) => isTokenEnvelope(fromBase64(text) ?? new Uint8Array()),
      'must be a token envelope',
    )
    .meta({ examples: [exampleOfForm.envelope] }),
  ...statementBeside,
})

const token = z.strictObject({
  token_id: tokenId,
  envelopes: z.array(tokenEnvelope).max(MAX_ENVELOPES),
  /** The one that it has, signed anew. */
  grant: signedText.meta(rarelyNeeded).optional(),
})

const secret = z.strictObject({
  project_id: projectId,
  environment,
  key: z
    .string()
    .max(128)
    .meta({ examples: ['STRIPE_API_KEY'] }),
  value: base64(MAX_VALUE_BYTES, 1).meta({ examples: [exampleOfForm.sealedValue] }),
  /** Equal to the stored one; absent for none. */
  policy: sentPolicy.optional(),
})

export const rekeyWorkspace = defineEndpoint({
  name: 'workspaces.rekey',
  summary: 'Replace the workspace key: every envelope and every secret, sealed anew, in one step',
  method: 'POST',
  path: '/api/workspaces/{workspace_id}/rekey/',
  access: { kind: 'member', permission: 'workspace.update', tenant: 'path.workspace_id' },
  params: z.object({ workspace_id: workspaceId }),
  body: z.strictObject({
    /** The new one: the current one and 1. */
    epoch: integer,
    members: z.array(member).max(MAX_MEMBERS),
    tokens: z.array(token).max(MAX_TOKENS),
    secrets: z.array(secret).max(MAX_SECRETS),
    link,
    /** In signed workspaces, one for each environment that has one. */
    manifests: z.array(signedText).max(MAX_MANIFESTS).meta(rarelyNeeded).optional(),
  }),
  bodyLimit: BODY_LIMIT,
  result: workspaceShape,
  faults: ['epoch_conflict', ...linkFaults],
})

export type RekeyBody = InputOf<typeof rekeyWorkspace, 'body'>
