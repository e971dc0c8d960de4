import { z } from 'zod'
import { defineEndpoint } from '../../platform/http/endpoint.ts'
import { base64, environmentName, uuid } from '../../platform/http/validate.ts'

/** Narrows a token that is good for more than one environment; null counts as absent. */
const deliveryScope = z.strictObject({
  project_id: uuid.nullish(),
  environment: environmentName.nullish(),
})

export type DeliveryScope = z.output<typeof deliveryScope>

const place = {
  status: z.literal('success'),
  workspace_id: uuid,
  project_id: uuid,
  environment: environmentName,
}

/** For tokens that can decrypt. */
const openDelivery = z.object({ ...place, secrets: z.record(z.string(), z.string()) })

/** For `svc_sea_` tokens: the client opens the envelope with its token's key, and each value with that. */
const sealedDelivery = z.object({
  ...place,
  sealed: z.record(z.string(), z.object({ value: base64(1_048_576), policy: z.unknown() })),
  envelopes: z.array(
    z.object({
      project_id: uuid,
      environment: environmentName,
      epoch: z.number().int(),
      envelope: z.string(),
    }),
  ),
})

export type Delivery = z.input<typeof openDelivery> | z.input<typeof sealedDelivery>

export const deliverEnvironment = defineEndpoint({
  name: 'workloads.env',
  summary: 'Deliver all secrets of one environment to a token, by name',
  method: 'POST',
  path: '/api/workloads/env/',
  access: { kind: 'token' },
  body: deliveryScope,
  bodyOptional: true,
  result: z.union([openDelivery, sealedDelivery]),
  bare: true,
  faults: [
    'scope_required',
    'not_found',
    'key_not_provisioned',
    'unreadable_secret',
    'audit_unavailable',
  ],
})
