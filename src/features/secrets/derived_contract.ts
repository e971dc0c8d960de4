/** Derived credentials: hints about them, and their sealed states for a rekey. */
import { z } from 'zod'
import { pagination, timestamp } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { exampleOfForm, integer, text } from '../../http/fields.ts'
import { inProject } from './shapes.ts'

/** Null for a secret without `kind`, and before the first attempt. */
export const derivedHints = z
  .object({
    expires_at: timestamp.nullable(),
    failed_at: timestamp.nullable(),
    failed_code: text('endpoint_failed').nullable(),
  })
  .meta({ id: 'DerivedHints' })

export const listDerivedStates = defineEndpoint({
  name: 'secrets.derived',
  reveals: true,
  summary: 'List the sealed states of derived credentials for a rekey, about 4 MiB per page',
  method: 'GET',
  path: '/api/projects/{project_id}/secrets/derived/',
  access: { kind: 'member', permission: 'workspace.update', tenant: 'path.project_id' },
  params: inProject,
  query: pagination,
  result: z.array(
    z
      .object({
        environment: text('production'),
        key: text('GITHUB_OAUTH'),
        generation: integer(1_798_761_600_000),
        state: text(exampleOfForm.sealedValue),
      })
      .meta({ id: 'DerivedState' }),
  ),
  paged: true,
})
