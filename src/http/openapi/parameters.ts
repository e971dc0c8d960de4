/** The parameters of an operation in its path, query and headers, each only for endpoints that support it. */
import type { z } from 'zod'
import { pagination } from '../../core/validation/validate.ts'
import type { Endpoint } from '../endpoint.ts'
import { exampleOf } from './example.ts'
import { type JsonSchema, jsonSchemaOf } from './json_schema.ts'

export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: JsonSchema
  example?: unknown
}

export function parametersOf(endpoint: Endpoint): Parameter[] {
  const path = parametersIn('path', endpoint.params).map((one) => ({ ...one, required: true }))
  const query = parametersIn('query', endpoint.query).filter(
    // Every list takes it, so that clients may send it always; where the path names the workspace it is moot.
    ({ name }) =>
      name !== 'workspace_id' ||
      endpoint.query?.shape.workspace_id !== pagination.shape.workspace_id,
  )
  return [...path, ...query, ...forwardHeaders(endpoint), ...activeWorkspaceOf(endpoint, query)]
}

function parametersIn(place: Parameter['in'], schema: z.ZodObject | undefined): Parameter[] {
  if (!schema) return []
  const { properties = {}, required } = jsonSchemaOf(schema, 'input')
  const needed = Array.isArray(required) ? required : []
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, inner]) => ({
    name,
    in: place,
    required: needed.includes(name),
    schema: inner,
    // Optional parameters have none: a page for trying out would send them all.
    ...(needed.includes(name) ? { example: exampleOf(inner) } : {}),
  }))
}

/** `timeout_ms` is X-Service-Timeout-Ms. */
function headerOf(setting: string): string {
  const words = setting.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `X-Service-${words.join('-')}`
}

function forwardHeaders({ forwards }: Endpoint): Parameter[] {
  return forwards
    ? parametersIn('header', forwards).map((one) => ({ ...one, name: headerOf(one.name) }))
    : []
}

/** The parameters for the workspace besides the body (protocol 2). */
function activeWorkspaceOf({ access }: Endpoint, query: readonly Parameter[]): Parameter[] {
  const active =
    (access.kind === 'member' &&
      (access.tenant === 'active' || access.tenant === 'path.project')) ||
    (access.kind === 'token' && access.orSession)
  const listed = query.some(({ name }) => name === 'workspace_id')
  if (!active && !(listed && access.kind === 'session')) return []
  const schema = { type: 'string', format: 'uuid' }
  const description =
    access.kind === 'token'
      ? 'Workspace of the reports of a session; not needed with a token.'
      : 'Workspace; default: the personal or only one.'
  return [
    { name: 'X-Workspace-Id', in: 'header', required: false, description, schema },
    ...(active && !listed
      ? [{ name: 'workspace_id', in: 'query' as const, required: false, description, schema }]
      : []),
  ]
}
