/** What the contracts of workspaces, and of those who invite to them or show them, have in common. */
import { z } from 'zod'
import { base64, email, properName, timestamp } from '../../core/validation/validate.ts'
import { exampleOfForm, id, role, text } from '../../http/fields.ts'
import { link } from '../links/contract.ts'

/** Bytes; envelopes of other clients may be larger than ours (protocol 3.2). */
const MAX_ENVELOPE_BYTES = 4096

/** A member's envelope as clients send it: opaque base64, and never nothing. */
export const encryptedWorkspaceKey = base64(MAX_ENVELOPE_BYTES, 1).meta({
  examples: [exampleOfForm.envelope],
})

export const workspaceName = properName(100).meta({ examples: ['Platform'] })

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

export type Invite = z.output<typeof invite>

function refuseRepeats(entries: readonly Invite[], context: z.RefinementCtx): void {
  const seen = new Set<string>()
  for (const [index, { email }] of entries.entries()) {
    if (seen.has(email))
      context.addIssue({ code: 'custom', path: [index, 'email'], message: 'is given twice' })
    seen.add(email)
  }
}
