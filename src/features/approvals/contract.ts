/** Approvals of the use of held secrets (protocol 14.2 and 14.3). */
import { z } from 'zod'
import { MAX_APPROVED_SECRETS } from '../../core/crypto/approval/call.ts'
import { MAX_RELEASE_ENVELOPE_BYTES } from '../../core/crypto/approval/release_envelope.ts'
import { callMethods } from '../../core/policy/policy.ts'
import { base64, pagination, timestamp } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import {
  approvalId,
  environment,
  exampleBytes,
  exampleOfForm,
  integer,
  projectId,
  rarelyNeeded,
  registrationId,
  shownSignedText,
  signedText,
  text,
  tokenId,
  userId,
  workspaceId,
} from '../../http/fields.ts'

const approvalsPath = '/api/workspaces/{workspace_id}/approvals/'
const approvalPath = `${approvalsPath}{approval_id}/` as const
const inWorkspace = { kind: 'member', tenant: 'path.workspace_id' } as const
const read = { ...inWorkspace, permission: 'approval.read' } as const
const decide = { ...inWorkspace, permission: 'approval.decide' } as const

const workspaceParams = z.object({ workspace_id: workspaceId })
const approvalParams = workspaceParams.extend({ approval_id: approvalId })

/** Bytes: 16 envelopes of values of 96 KiB, in base64. */
const RELEASE_LIMIT = 4 * 1024 * 1024
/** Seconds. */
const MAX_MUTE = 86_400

export const approvalStatuses = [
  'pending',
  'released',
  'used',
  'denied',
  'expired',
  'revoked',
] as const

const key = text('STRIPE_API_KEY')
const place = { project_id: projectId, environment: text('production'), key }

const scope = z
  .object({
    host: text('api.stripe.com'),
    methods: z.array(z.enum(callMethods)),
    path_prefix: text('/v1/charges'),
  })
  .meta({ id: 'ReleaseScope' })

const approval = z
  .object({
    id: approvalId,
    status: z.enum(approvalStatuses).meta({ examples: ['pending'] }),
    token_id: tokenId,
    registration_id: registrationId.nullable(),
    agent: text('deploy-bot'),
    digest: text('V2hhdCBhIG1lbWJlciBhcHByb3Zlcy4gMzIgYnl0ZXM'),
    host: text('api.stripe.com'),
    method: text('POST'),
    secrets: z.array(z.object({ ...place, held: z.boolean() })),
    body_bytes: integer(28).nullable(),
    body_type: text('application/json').nullable(),
    requested_at: timestamp,
    expires_at: timestamp,
    decided_by: userId.nullable(),
    decided_at: timestamp.nullable(),
    muted_until: timestamp.nullable().meta(rarelyNeeded),
    /** Null for a release of one call, and before one. */
    scope: scope.nullable(),
  })
  .meta({ id: 'Approval' })

const approvalDetails = approval
  .extend({
    /** Base64, sealed for members of the workspace; null 24 hours after the end. */
    details: text(exampleBytes(60, 1)).nullable(),
    statement: text('{"v":3}').nullable(),
    signature: text(exampleOfForm.keyProof).nullable(),
    /** The token's grant, which only admins can list: an approver seals values to the public key in it. */
    grant: shownSignedText.nullable(),
  })
  .meta({ id: 'ApprovalDetails' })

/** Longer than an hour, or all requests of the token for these secrets. */
const denial = z
  .strictObject({
    mute_seconds: z
      .number()
      .int()
      .min(0)
      .max(MAX_MUTE)
      .optional()
      .meta({ examples: [3_600] }),
  })
  .meta({ id: 'ApprovalDenial' })

export const listApprovals = defineEndpoint({
  name: 'approvals.list',
  summary: 'List approval requests, newest first',
  method: 'GET',
  path: approvalsPath,
  access: read,
  params: workspaceParams,
  query: pagination.extend({
    status: z
      .enum(approvalStatuses)
      .optional()
      .meta({ examples: ['pending'] }),
  }),
  result: z.array(approval),
  paged: true,
})

export const getApproval = defineEndpoint({
  name: 'approvals.get',
  summary: 'Get an approval request with its sealed call details',
  method: 'GET',
  path: approvalPath,
  access: read,
  params: approvalParams,
  result: approvalDetails,
})

export const releaseApproval = defineEndpoint({
  name: 'approvals.release',
  summary: 'Approve the call of a request, or similar calls for a limited time',
  method: 'POST',
  path: `${approvalPath}release/`,
  access: decide,
  params: approvalParams,
  bodyLimit: RELEASE_LIMIT,
  body: signedText
    .extend({
      envelopes: z
        .array(
          z.strictObject({
            project_id: projectId,
            environment,
            key,
            envelope: base64(MAX_RELEASE_ENVELOPE_BYTES, 1).meta({
              examples: [exampleOfForm.envelope],
            }),
          }),
        )
        .min(1)
        .max(MAX_APPROVED_SECRETS),
    })
    .meta({ id: 'Release' }),
  faults: ['link_refused', 'unverified_state', 'conflict', 'quota_exceeded'],
})

export const denyApproval = defineEndpoint({
  name: 'approvals.deny',
  summary: 'Deny a request for one hour or longer',
  method: 'POST',
  path: `${approvalPath}deny/`,
  access: decide,
  params: approvalParams,
  body: denial,
  bodyOptional: true,
  faults: ['conflict'],
})

export const revokeApproval = defineEndpoint({
  name: 'approvals.revoke',
  summary: 'Revoke an approval',
  method: 'POST',
  path: `${approvalPath}revoke/`,
  access: decide,
  params: approvalParams,
  body: denial,
  bodyOptional: true,
  faults: ['conflict'],
})

export const getOwnApproval = defineEndpoint({
  name: 'resolver.approval',
  summary: 'Get the status of an approval request from this token',
  method: 'GET',
  path: '/v1/approvals/{approval_id}',
  access: { kind: 'token', capability: 'use' },
  params: z.object({ approval_id: approvalId }),
  result: z.object({
    id: approvalId,
    status: z.enum(approvalStatuses).meta({ examples: ['pending'] }),
    expires_at: timestamp,
  }),
  bare: true,
})
