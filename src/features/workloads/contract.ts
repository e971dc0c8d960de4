import { z } from 'zod'
import { capabilities } from '../../core/capability.ts'
import { examplePolicy } from '../../core/policy/policy.ts'
import { base64, secretKey, timestamp } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import {
  environment,
  exampleOfForm,
  integer,
  projectId,
  shownSignedText,
  text,
  tokenId,
  workspaceId,
} from '../../http/fields.ts'
import { links } from '../links/contract.ts'

/** The number of the last link that a client of a signed workspace has. */
const linkNumber = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1)
  .meta({ examples: [12] })

/** Narrows a token that is good for more than one environment; null counts as absent. */
const deliveryScope = z
  .strictObject({
    project_id: projectId.nullish(),
    environment: environment.nullish(),
    links_after: linkNumber.nullish(),
    /** Only these secrets; all of the environment without it. */
    names: z.array(secretKey).min(1).max(100).nullish(),
  })
  .meta({ id: 'DeliveryScope' })

export type DeliveryScope = z.output<typeof deliveryScope>

const place = {
  status: z.literal('success'),
  workspace_id: workspaceId,
  project_id: projectId,
  environment,
}

/** b64url of 32 bytes. */
const exampleHash = new Uint8Array(32)
  .fill(0x5a)
  .toBase64({ alphabet: 'base64url', omitPadding: true })

const secretName = text('STRIPE_API_KEY')

/** Derived credentials that could not be had, and secrets that need an approval of each use, with the code of the reason. */
const unavailable = z.record(secretName, text('reconnect_required')).optional()

/** For tokens that can decrypt. */
const openDelivery = z
  .object({
    ...place,
    secrets: z.record(secretName, text('the plaintext value')),
    unavailable,
  })
  .meta({ id: 'OpenDelivery' })

/** The signed texts of a signed workspace, which verify the rest (protocol 12.3). */
const signedParts = z
  .object({
    links,
    grant: shownSignedText,
    binding: text(exampleOfForm.publicKey),
    manifest: shownSignedText.nullable(),
    value_sha256: z.record(secretName, text(exampleHash)),
  })
  .partial()

/** For `svc_sea_` tokens: the client opens the envelope with its token's key, and each value with that. */
const sealedDelivery = z
  .object({
    ...place,
    sealed: z.record(
      secretName,
      z.object({
        value: base64(1_048_576).meta({ examples: [exampleOfForm.sealedValue] }),
        policy: z.unknown().meta({ examples: [examplePolicy] }),
      }),
    ),
    /** Secrets of a kind: fetch their credentials by name with the whole token. */
    derived: z.array(secretName).optional(),
    unavailable,
    envelopes: z.array(
      z.object({
        project_id: projectId,
        environment,
        epoch: z.number().int(),
        envelope: text(exampleOfForm.envelope),
        ...shownSignedText.partial().shape,
      }),
    ),
    ...signedParts.shape,
  })
  .meta({ id: 'SealedDelivery' })

export type SealedDelivery = z.input<typeof sealedDelivery>

export type Delivery = z.input<typeof openDelivery> | z.input<typeof sealedDelivery>

export const deliverEnvironment = defineEndpoint({
  name: 'workloads.env',
  summary: 'Get all secrets of one environment with a token',
  method: 'POST',
  path: '/api/workloads/env/',
  access: { kind: 'token', capability: 'read', sealed: true, action: 'credentials.read' },
  body: deliveryScope,
  bodyOptional: true,
  result: z.union([openDelivery, sealedDelivery]),
  bare: true,
  faults: [
    'not_found',
    'key_not_provisioned',
    'unreadable_secret',
    'unresolved_reference',
    'audit_unavailable',
  ],
})

/** For programs that are to be started again when something changed: no values, and no record. */
export const getVersion = defineEndpoint({
  name: 'workloads.version',
  summary: 'Get a version number that grows with every change of the delivered secrets',
  method: 'GET',
  path: '/api/workloads/version/',
  access: { kind: 'token', capability: 'read', sealed: true, action: 'credentials.read' },
  result: z.object({ version: integer(42) }),
  bare: true,
})

const projectName = text('billing')

/** For the bearer of a token: names and IDs, no values, keys or secret names. */
export const getToken = defineEndpoint({
  name: 'workloads.token',
  summary: 'Get the kind, permissions, scope and expiry of this token',
  method: 'GET',
  path: '/api/workloads/token/',
  access: { kind: 'token', capability: null, sealed: true },
  result: z.object({
    token_id: tokenId,
    kind: z.enum(['agent', 'workload']),
    name: text('deploy-bot'),
    label: text('default'),
    can_decrypt: z.boolean(),
    capabilities: z.array(z.enum(capabilities)).meta({ examples: [['use']] }),
    workspace_id: workspaceId,
    workspace_name: text('Platform'),
    epoch: integer(1),
    project_id: projectId.nullable(),
    project_name: projectName.nullable(),
    environment: environment.nullable(),
    expires_at: timestamp.nullable(),
    created_at: timestamp,
    provisioned: z.array(
      z.object({
        project_id: projectId,
        project_name: projectName,
        environment,
        epoch: integer(1),
      }),
    ),
  }),
  bare: true,
})
