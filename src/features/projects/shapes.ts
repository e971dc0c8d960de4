/** Invitations to a project (protocol 5.4). */
import { z } from 'zod'
import { email } from '../../core/validation/validate.ts'
import { role, text } from '../../http/fields.ts'
import { inviteBody, inviteStatuses } from '../workspaces/contract.ts'

const MAX_MEMBERS = 100

/** People of the workspace, or invitations to it: access to a project follows the workspace's roles. */
export const projectInviteBody = z
  .union([
    z.strictObject({
      members: z
        .array(email)
        .min(1)
        .max(MAX_MEMBERS)
        .refine((emails) => new Set(emails).size === emails.length, 'names an address twice'),
    }),
    inviteBody,
  ])
  .meta({ id: 'ProjectInvites' })

export const projectInviteResult = z.array(
  z
    .object({
      email: text('ada@example.com'),
      status: z.enum([...inviteStatuses, 'not_a_member']),
      /** What the person is, or will be on accepting. */
      role: role.nullable(),
    })
    .meta({ id: 'ProjectInviteOutcome' }),
)
