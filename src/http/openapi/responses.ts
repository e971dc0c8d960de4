/** The responses of an operation for its documentation, in the shapes of reply.ts, by status. */

import { type FaultCode, messageOf, statusOf } from '../../core/fault.ts'
import { type Endpoint, faultsOf } from '../endpoint.ts'
import type { Surface } from '../reply.ts'
import { EXAMPLE_CURSOR, type FailureShape, failure, failureModels } from './components.ts'
import { exampleOf } from './example.ts'
import { jsonSchemaOf } from './json_schema.ts'
import type { Models } from './models.ts'

type Fields = Record<string, unknown>

const string = { type: 'string' }
const reference = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })

const JSON_TYPE = 'application/json'
type Content = { schema: Fields; example?: unknown }

const pagination: Content = {
  schema: reference('schemas', 'Pagination'),
  example: { next_cursor: EXAMPLE_CURSOR },
}

/** All responses of an endpoint by status. */
export function responsesOf(endpoint: Endpoint, on: readonly Surface[], models: Models): Fields {
  const content = successContent(endpoint, models)
  return { ...successes(endpoint, content), ...failures(endpoint, on, content) }
}

function successes(endpoint: Endpoint, content: Fields): Fields {
  const { success = 200 } = endpoint
  const statuses = success === 'either' ? [200, 201] : [success]
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      {
        description: status === 201 ? 'Created.' : 'Done.',
        headers: headersOf(['X-Request-Id', ...rateHeadersOf(endpoint)]),
        content,
      },
    ]),
  )
}

function successContent(endpoint: Endpoint, models: Models): Record<string, Content> {
  if (endpoint.forwards) return { [endpoint.mediaType ?? JSON_TYPE]: { schema: {} } }
  if (endpoint.mediaType) return { [endpoint.mediaType]: { schema: string } }
  const { name, bare, result } = endpoint
  const data = result && models.of(result, 'output', modelName(name, 'Result'))
  const example = result && exampleOf(jsonSchemaOf(result, 'output'))
  if (bare) return { [JSON_TYPE]: { schema: data ?? {}, example: example ?? {} } }
  return { [JSON_TYPE]: wrapData(endpoint, models, data && { schema: data, example }) }
}

/** A result in the envelope of the control plane. */
function wrapData(endpoint: Endpoint, models: Models, data: Content | undefined): Content {
  const parts: Record<string, Content> = {
    status: { schema: { const: 'success' }, example: 'success' },
    ...(data && { data }),
    ...besideOf(endpoint),
    ...(endpoint.paged && { pagination }),
  }
  const schemas = Object.entries(parts).map(([part, { schema }]) => [part, schema])
  const examples = Object.entries(parts).map(([part, { example }]) => [part, example])
  const schema = {
    type: 'object',
    properties: {
      ...Object.fromEntries(schemas),
      message: { ...string, description: 'text for people; may change' },
    },
    required: Object.keys(parts).filter((part) => !(part in (endpoint.beside?.shape ?? {}))),
  }
  return {
    schema: models.add(data ? responseName(endpoint, data.schema) : 'Success', schema),
    example: Object.fromEntries(examples),
  }
}

/** Optional, because only some workspaces have them. */
function besideOf({ beside }: Endpoint): Record<string, Content> {
  if (!beside) return {}
  const whole = jsonSchemaOf(beside, 'output')
  const examples = Object(exampleOf(whole))
  const parts = Object.entries(Object(whole.properties))
  return Object.fromEntries(
    parts.map(([part, schema]) => [part, { schema, example: examples[part] }] as [string, Content]),
  )
}

/** Uses the result's model if it has one, so that equal results share a type. */
function responseName({ name, paged }: Endpoint, data: Fields): string {
  const list = data.items as Fields | undefined
  const model =
    String((list ?? data).$ref ?? '')
      .split('/')
      .at(-1) ?? ''
  if (model === '' || model.endsWith('Result')) return modelName(name, 'Response')
  return `${model}${paged ? 'Page' : list ? 'ListResponse' : 'Response'}`
}

/** `agents.tokens.issue` and `Body` are `AgentsTokensIssueBody`. */
export function modelName(endpoint: string, kind: 'Body' | 'Result' | 'Response'): string {
  const words = endpoint.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return [...words, kind].join('')
}

function failures(
  endpoint: Endpoint,
  on: readonly Surface[],
  success: Record<string, Content>,
): Fields {
  const shapes = endpoint.forwards ? (['forward'] as const) : on
  const byStatus = Map.groupBy(faultsOf(endpoint), statusOf)
  const sorted = [...byStatus].sort(([a], [b]) => a - b)
  return Object.fromEntries(
    sorted.map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\`: ${messageOf(code)}`).join('\n\n'),
        headers: headersOf(['X-Request-Id', ...headersOfStatus(status)]),
        content: {
          [JSON_TYPE]:
            status === 503 && endpoint.degradable
              ? orResult(success[JSON_TYPE], failureContent(codes, shapes))
              : failureContent(codes, shapes),
          // For clients of S3 (protocol 6.3).
          ...(endpoint.forwards && { 'application/xml': { schema: {} } }),
        },
      },
    ]),
  )
}

/** The codes are the names of the examples, which have the first shape. */
function failureContent(codes: readonly FaultCode[], shapes: readonly FailureShape[]) {
  const schemas = shapes.map((one) => reference('schemas', failureModels[one]))
  const [schema = {}, ...others] = schemas
  const [shape = 'control-plane'] = shapes
  return {
    schema: others.length > 0 ? { anyOf: schemas } : schema,
    examples: Object.fromEntries(codes.map((code) => [code, { value: failure(code, shape) }])),
  }
}

/** A degraded service answers in the shape of a success, a broken one in that of a failure. */
function orResult(
  success: Content | undefined,
  content: { schema: Fields; examples: Fields },
): Fields {
  const degraded = { value: success?.example, summary: 'with the unhealthy parts' }
  return {
    schema: { anyOf: [success?.schema, content.schema] },
    examples: { degraded, ...content.examples },
  }
}

function headersOf(names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, reference('headers', name)]))
}

function rateHeadersOf({ access }: Endpoint): string[] {
  const limited = access.kind === 'public' ? access.rate !== undefined : access.kind !== 'token'
  return limited ? ['RateLimit', 'RateLimit-Policy'] : []
}

function headersOfStatus(status: number): string[] {
  if (status === 401) return ['WWW-Authenticate']
  if (status === 429) return ['Retry-After', 'RateLimit', 'RateLimit-Policy']
  return status === 503 ? ['Retry-After'] : []
}
