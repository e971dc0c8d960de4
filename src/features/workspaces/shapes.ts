/** Shared by the contracts of workspaces, and of other features that return or invite members. */
import { z } from 'zod'
import { fromBase64 } from '../../core/crypto/encoding.ts'
import { isTokenEnvelope } from '../../core/crypto/envelope.ts'
import { sentPolicy } from '../../core/policy/policy.ts'
import { base64, buildNameSchema, email, timestamp } from '../../core/validation/validate.ts'
import {
  environment,
  exampleOfForm,
  id,
  projectId,
  rarelyNeeded,
  role,
  signedText,
  statementBeside,
  text,
  tokenId,
  userId,
} from '../../http/fields.ts'
import { link } from '../links/contract.ts'

/** Bytes; envelopes of other clients may be larger than ours (protocol 3.2). */
const MAX_ENVELOPE_BYTES = 4096

/** A member's envelope as clients send it: opaque base64, and never nothing. */
export const encryptedWorkspaceKey = base64(MAX_ENVELOPE_BYTES, 1).meta({
  examples: [exampleOfForm.envelope],
})

export const workspaceName = buildNameSchema(100).meta({ examples: ['Platform'] })

/** A workspace as one of its members sees it. */
export const workspaceShape = z
  .object({
    id,
    name: text('Platform'),
    type: z.enum(['personal', 'shared']),
    role,
    status: z.enum(['active', 'invited']),
    /** Null where the outer layer does not open it. */
    encrypted_workspace_key: text(exampleOfForm.envelope).nullable(),
    epoch: z.number().int(),
    rekey_required: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Workspace' })

const MAX_INVITES = 100

const invite = z
  .strictObject({
    email,
    role,
    encrypted_workspace_key: encryptedWorkspaceKey,
  })
  .meta({ id: 'Invite' })

/** A batch in which no address is given twice. */
export const invites = z
  .array(invite)
  .min(1)
  .max(MAX_INVITES)
  .superRefine((entries, context) => refuseRepeats(entries, context))

/** The epoch that the envelopes are for; when given it must be the current one. */
const epoch = z.number().int().min(1).optional()

export const inviteBody = z.union([
  z.strictObject({ invites, epoch, link }),
  invite
    .extend({ epoch, link })
    .transform(({ epoch, link, ...single }) => ({ invites: [single], epoch, link })),
])

export const inviteStatuses = [
  'invited',
  'already_member',
  'user_not_found',
  'no_signing_key',
] as const

export const inviteResult = z
  .object({
    email: text('ada@example.com'),
    status: z.enum(inviteStatuses),
  })
  .meta({ id: 'InviteOutcome' })

export type WorkspaceInvite = z.output<typeof invite>

function refuseRepeats(entries: readonly WorkspaceInvite[], context: z.RefinementCtx): void {
  const seen = new Set<string>()
  for (const [index, { email }] of entries.entries()) {
    if (seen.has(email))
      context.addIssue({ code: 'custom', path: [index, 'email'], message: 'is given twice' })
    seen.add(email)
  }
}

/** Decoded; as for the secrets' own endpoints. */
const MAX_VALUE_BYTES = 98_304
const TOKEN_ENVELOPE_BYTES = 81
/** More than a body can hold of them, or near it. */
const MAX_MEMBERS = 10_000
const MAX_TOKENS = 100_000
const MAX_ENVELOPES = 10_000
const MAX_SECRETS = 200_000
const MAX_MANIFESTS = 20_000
/** Decoded: 256 KiB. */
const MAX_STATE_BYTES = 262_144

/** Any: one that is not the next is a conflict with the state, however far off it is. */
const integer = z.number().refine(Number.isInteger, 'must be an integer').meta({ type: 'integer' })

const member = z.strictObject({ user_id: userId, encrypted_workspace_key: encryptedWorkspaceKey })

const tokenEnvelope = z.strictObject({
  project_id: projectId,
  environment,
  /** When given, the new epoch. */
  epoch: integer.optional(),
  /** The server opens these itself, so they have one form (protocol 3.2). */
  envelope: base64(TOKEN_ENVELOPE_BYTES)
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
  /** The present grant, signed again. */
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

/** A derived credential's state, sealed under the new key for the generation after the one that was read. */
const derivedState = z.strictObject({
  ...secret.pick({ project_id: true, environment: true, key: true }).shape,
  /** As it was read. */
  generation: z
    .number()
    .int()
    .min(1)
    .meta({ examples: [1_798_761_600_000] }),
  state: base64(MAX_STATE_BYTES, 1).meta({ examples: [exampleOfForm.sealedValue] }),
})

/** The body of a rekey: the whole workspace. */
export const rekeyBody = z.strictObject({
  /** The new one: the current one and 1. */
  epoch: integer,
  members: z.array(member).max(MAX_MEMBERS),
  tokens: z.array(token).max(MAX_TOKENS),
  secrets: z.array(secret).max(MAX_SECRETS),
  link,
  /** In signed workspaces, one for each environment that has one. */
  manifests: z.array(signedText).max(MAX_MANIFESTS).meta(rarelyNeeded).optional(),
  /** States that are left out are deleted. */
  derived: z.array(derivedState).max(MAX_SECRETS).meta(rarelyNeeded).optional(),
})
