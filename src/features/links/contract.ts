/** Links as data (protocol 12.1): how they are read, and what the contracts of changes have in common. */
import { z } from 'zod'
import { wholeNumber } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { exampleOfForm, integer, signedText, text, workspaceId } from '../../http/fields.ts'

/** The link of a change in a signed workspace; absent in a plain one. */
export const link = signedText.meta({ examples: [] }).optional()

/** The body of a change without other fields. */
export const linkOnly = z.strictObject({ link }).meta({ id: 'LinkOnly' })

/** Why a change of a signed workspace is refused. */
export const linkFaults = ['link_required', 'link_refused', 'unverified_state', 'conflict'] as const

/** As they are shown, in order. */
export const links = z.array(
  z
    .object({
      seq: integer(1),
      statement: text('{"v":2}'),
      signature: text(exampleOfForm.keyProof),
    })
    .meta({ id: 'Link' }),
)

/** The number of the last link that the client has. */
const afterLink = z.object({
  after: wholeNumber(0, 2 ** 31 - 1)
    .default(0)
    .meta({ examples: [1] }),
})

export const listLinks = defineEndpoint({
  name: 'links.list',
  summary: 'List the signed links of a workspace, up to 500 at a time',
  method: 'GET',
  path: '/api/workspaces/{workspace_id}/links/',
  access: { kind: 'session' },
  params: z.object({ workspace_id: workspaceId }),
  query: afterLink,
  result: links,
})

export const listLinksForToken = defineEndpoint({
  name: 'links.list_for_token',
  summary: 'List the signed links that verify a sealed delivery to this token',
  method: 'GET',
  path: '/v1/links/',
  access: { kind: 'token', capability: 'read', sealed: true, action: 'links.read' },
  query: afterLink,
  result: links,
  bare: true,
})
