/** Secrets: what clients sealed, by project, environment and key (protocol 5.5). */
import { z } from 'zod'
import { policy } from '../../core/policy/policy.ts'
import { map, pagination, secretKey, timestamp } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import {
  exampleOfForm,
  id,
  integer,
  projectId,
  shownSignedText,
  text,
  valueHash,
} from '../../http/fields.ts'
import { linkFaults } from '../links/contract.ts'
import { derivedHints } from './derived_contract.ts'
import {
  environment,
  inProject,
  MAX_ENTRIES,
  manifest,
  manifestOnly,
  sealedValue,
  storedPolicy,
} from './shapes.ts'

export { listDeletedSecrets, restoreSecretsEndpoint } from './deleted_contract.ts'
export { listDerivedStates } from './derived_contract.ts'
/** For who deletes an environment; and for clients. */
export { MAX_SEALED_BYTES, manifestOnly } from './shapes.ts'

const BODY_LIMIT = 4_194_304

const path = '/api/secrets/{project_id}/'

/** The version that was read; 0 means that the secret did not exist. */
const versionNumber = (least: 0 | 1) =>
  z
    .number()
    .int()
    .min(least)
    .max(2_147_483_647)
    .meta({ examples: [3] })

const entries = z
  .union([
    z
      .array(
        z.strictObject({
          key: secretKey,
          value: sealedValue,
          policy: policy.optional(),
          expected_version: versionNumber(0).optional(),
        }),
      )
      .min(1)
      .max(MAX_ENTRIES)
      .transform((list) => list.map((entry, index) => ({ ...entry, path: `secrets.${index}` }))),
    map({ min: 1, max: MAX_ENTRIES }, secretKey, sealedValue).transform((record) =>
      Object.entries(record).map(([key, sealed]) => ({
        key,
        value: sealed,
        policy: undefined,
        expected_version: undefined,
        path: `secrets.${key}`,
      })),
    ),
  ])
  .superRefine((list, context) => {
    const seen = new Set<string>()
    for (const [index, { key }] of list.entries()) {
      if (seen.has(key)) {
        context.addIssue({ code: 'custom', path: [index, 'key'], message: 'is given twice' })
      }
      seen.add(key)
    }
  })

const ofSecret = z.object({ project_id: projectId, key: secretKey })
const inEnvironment = z.strictObject({ environment })

/** The newest manifest of what is listed, in signed workspaces; null where nothing was ever written. */
const besideSecrets = z.object({ manifest: shownSignedText.nullable().optional() })

const secret = z
  .object({
    id,
    key: text('STRIPE_API_KEY'),
    environment: text('production'),
    value: text(exampleOfForm.sealedValue),
    policy: storedPolicy,
    version: integer(3),
    derived: derivedHints.nullable().optional(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Secret' })

export const upsertSecrets = defineEndpoint({
  name: 'secrets.upsert',
  summary: 'Create or replace secrets, all or none',
  method: 'POST',
  path: '/api/secrets/',
  quotas: ['secrets', 'environments'],
  access: { kind: 'member', permission: 'secret.write', tenant: 'body.project_id' },
  body: z.strictObject({
    project_id: projectId,
    environment,
    secrets: entries,
    create_environment: z.boolean().default(true),
    manifest,
  }),
  bodyLimit: BODY_LIMIT,
  result: z.object({
    created: z.number().int(),
    updated: z.number().int(),
    /** Said when the environment held nothing before: a mistyped name would be noticed late. */
    created_environment: z.literal(true).optional(),
  }),
  success: 'either',
  faults: ['epoch_conflict', ...linkFaults],
})

export const listSecrets = defineEndpoint({
  name: 'secrets.list',
  reveals: true,
  summary:
    'List the secrets of an environment; include=value adds ciphertexts, about 4 MiB per page',
  method: 'GET',
  path,
  access: { kind: 'member', permission: 'secret.read', tenant: 'path.project_id' },
  params: inProject,
  query: pagination.extend({ environment, include: z.literal('value').optional() }),
  result: z.array(
    secret
      .extend({
        value: text(exampleOfForm.sealedValue).optional(),
        value_sha256: valueHash,
      })
      .meta({ id: 'ListedSecret' }),
  ),
  beside: besideSecrets,
  paged: true,
  faults: ['unreadable_secret'],
})

export const getSecret = defineEndpoint({
  name: 'secrets.get',
  reveals: true,
  summary: 'Get one secret with its ciphertext',
  method: 'GET',
  path: `${path}{key}/`,
  access: { kind: 'member', permission: 'secret.read', tenant: 'path.project_id' },
  params: ofSecret,
  query: inEnvironment,
  result: secret,
  faults: ['unreadable_secret'],
})

export const deleteSecret = defineEndpoint({
  name: 'secrets.delete',
  summary: 'Delete a secret with all versions; it can be restored for 7 days',
  method: 'DELETE',
  path: `${path}{key}/`,
  access: { kind: 'member', permission: 'secret.write', tenant: 'path.project_id' },
  params: ofSecret,
  query: inEnvironment,
  body: manifestOnly,
  bodyOptional: true,
  faults: ['epoch_conflict', ...linkFaults],
})

export const listVersions = defineEndpoint({
  name: 'secrets.versions',
  reveals: true,
  summary: 'List the stored versions of a secret, newest first',
  method: 'GET',
  path: `${path}{key}/versions/`,
  access: { kind: 'member', permission: 'secret.read', tenant: 'path.project_id' },
  params: ofSecret,
  query: pagination.extend({ environment, include: z.literal('value').optional() }),
  result: z.array(
    z
      .object({
        version: integer(3),
        value: text(exampleOfForm.sealedValue).optional(),
        value_sha256: valueHash,
        policy: storedPolicy,
        created_by_email: text('ada@example.com').nullable(),
        created_at: timestamp,
      })
      .meta({ id: 'SecretVersion' }),
  ),
  paged: true,
  faults: ['unreadable_secret'],
})

export const rollBackSecret = defineEndpoint({
  name: 'secrets.rollback',
  summary: 'Make an earlier version and its policy current',
  method: 'POST',
  path: `${path}{key}/rollback/`,
  access: { kind: 'member', permission: 'secret.write', tenant: 'path.project_id' },
  params: ofSecret,
  query: inEnvironment,
  body: z.strictObject({
    version: versionNumber(1),
    policy: policy.optional(),
    manifest,
  }),
  result: secret,
  faults: ['epoch_conflict', 'unreadable_secret', ...linkFaults],
})
