/** Secrets that were deleted and can be restored (protocol 5.5). */
import { z } from 'zod'
import { pagination, secretKey, timestamp } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { exampleOfForm, integer, text, valueHash } from '../../http/fields.ts'
import { linkFaults } from '../links/contract.ts'
import { environment, inProject, MAX_ENTRIES, manifest, storedPolicy } from './shapes.ts'

const ofDeleted = '/api/projects/{project_id}/secrets/'

export const listDeletedSecrets = defineEndpoint({
  name: 'secrets.deleted',
  reveals: true,
  summary:
    'List the deleted secrets of an environment that can be restored; include=value adds ciphertexts',
  method: 'GET',
  path: `${ofDeleted}deleted/`,
  access: { kind: 'member', permission: 'secret.read', tenant: 'path.project_id' },
  params: inProject,
  query: pagination.extend({ environment, include: z.literal('value').optional() }),
  result: z.array(
    z.object({
      key: text('STRIPE_API_KEY'),
      version: integer(3),
      value: text(exampleOfForm.sealedValue).optional(),
      value_sha256: valueHash,
      policy: storedPolicy,
      deleted_at: timestamp,
    }),
  ),
  paged: true,
  faults: ['unreadable_secret'],
})

export const restoreSecretsEndpoint = defineEndpoint({
  name: 'secrets.restore',
  summary:
    'Restore secrets within 7 days of deletion, all or none, unless the workspace was rekeyed',
  method: 'POST',
  path: `${ofDeleted}restore/`,
  quotas: ['secrets', 'environments'],
  access: { kind: 'member', permission: 'secret.write', tenant: 'path.project_id' },
  params: inProject,
  body: z.strictObject({
    environment,
    keys: z
      .array(secretKey)
      .min(1)
      .max(MAX_ENTRIES)
      .refine((keys) => new Set(keys).size === keys.length, 'names a secret twice'),
    manifest,
  }),
  result: z.object({ restored: z.number().int() }),
  faults: ['not_found', 'already_exists', 'epoch_conflict', ...linkFaults],
})
