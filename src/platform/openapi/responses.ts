/** The responses of an operation for its documentation, in the shapes of reply.ts, by status. */

import { type FaultCode, inWords, messageOf, statusOf } from '../fault.ts'
import { type Endpoint, faultsOf } from '../http/endpoint.ts'
import type { Surface } from '../http/reply.ts'
import { exampleOf } from './example.ts'
import { type JsonSchema, jsonSchemaOf } from './json_schema.ts'

type Fields = Record<string, unknown>

const string = { type: 'string' }
const reference = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })

/** Component names of the failure shape of each listener. */
const failureOf: Record<Surface, string> = {
  'control-plane': 'Failure',
  resolver: 'ResolverFailure',
}

export const failureSchemas: Record<string, JsonSchema> = {
  Failure: {
    type: 'object',
    description: 'Every refusal of the control plane.',
    properties: {
      status: { const: 'failure' },
      error_code: { ...string, description: 'stable; what programs decide by' },
      message: { ...string, description: 'for people; may change' },
      fields: {
        type: 'array',
        description: 'with validation_error: what was refused and why',
        items: {
          type: 'object',
          properties: { path: string, message: string },
          required: ['path', 'message'],
        },
      },
      request_id: { ...string, format: 'uuid', description: 'also in X-Request-Id and in the log' },
    },
    required: ['status', 'error_code', 'message', 'request_id'],
  },
  ResolverFailure: {
    type: 'object',
    description: 'Every refusal of the resolver.',
    properties: { error_code: string, message: string },
    required: ['error_code', 'message'],
  },
  Pagination: {
    type: 'object',
    properties: {
      next_cursor: {
        type: ['string', 'null'],
        description: 'the `cursor` of the next page, null on the last',
        examples: ['bmV4dC1wYWdlLXN0YXJ0cy1oZXJl'],
      },
    },
    required: ['next_cursor'],
  },
}

export const responseHeaders: Record<string, Fields> = {
  'X-Request-Id': { description: 'Names this request in the log.', schema: { ...string } },
  RateLimit: {
    description: 'What is left of the limit: `r` requests, full again in `t` seconds.',
    schema: { ...string, examples: ['"default";r=599;t=1'] },
  },
  'RateLimit-Policy': {
    description: 'The limit: `q` requests in `w` seconds.',
    schema: { ...string, examples: ['"default";q=600;w=10'] },
  },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': { description: 'RFC 6750.', schema: { const: 'Bearer' } },
}

/** All responses of an endpoint by status. */
export function responsesOf(endpoint: Endpoint, surface: Surface): Fields {
  return { ...successes(endpoint), ...failures(endpoint, surface) }
}

function successes(endpoint: Endpoint): Fields {
  const { success = 200 } = endpoint
  const statuses = success === 'either' ? [200, 201] : [success]
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      {
        description: status === 201 ? 'Created.' : 'Done.',
        headers: headersOf(['X-Request-Id', ...rateHeadersOf(endpoint)]),
        content: successContent(endpoint),
      },
    ]),
  )
}

function successContent(endpoint: Endpoint): Fields {
  if (endpoint.mediaType) return { [endpoint.mediaType]: { schema: string } }
  const schema = successSchema(endpoint)
  return { 'application/json': { schema, example: exampleOf(schema) } }
}

/** The body of a success: bare, or in the envelope of the control plane. */
function successSchema({ result, bare, paged }: Endpoint): JsonSchema {
  const data = result ? jsonSchemaOf(result, 'output') : undefined
  if (bare) return data ?? {}
  return {
    type: 'object',
    properties: {
      status: { const: 'success' },
      ...(data ? { data } : {}),
      ...(paged ? { pagination: failureSchemas.Pagination } : {}),
    },
    required: ['status', ...(data ? ['data'] : []), ...(paged ? ['pagination'] : [])],
  }
}

function failures(endpoint: Endpoint, surface: Surface): Fields {
  const byStatus = Map.groupBy(faultsOf(endpoint), statusOf)
  const sorted = [...byStatus].sort(([a], [b]) => a - b)
  return Object.fromEntries(
    sorted.map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\`: ${messageOf(code)}`).join('\n\n'),
        headers: headersOf(['X-Request-Id', ...headersOfStatus(status)]),
        content: {
          'application/json':
            status === 503 && endpoint.degradable
              ? orResult(endpoint, failureContent(codes, surface))
              : failureContent(codes, surface),
        },
      },
    ]),
  )
}

function failureContent(codes: readonly FaultCode[], surface: Surface) {
  return {
    schema: {
      allOf: [
        reference('schemas', failureOf[surface]),
        { properties: { error_code: { enum: codes } } },
      ],
    },
    examples: Object.fromEntries(codes.map((code) => [code, { value: failure(code, surface) }])),
  }
}

/** A degraded service answers in the shape of a success, a broken one in that of a failure. */
function orResult(endpoint: Endpoint, content: { schema: Fields; examples: Fields }): Fields {
  const schema = successSchema(endpoint)
  const degraded = { value: exampleOf(schema), summary: 'with the parts that do not work' }
  return {
    schema: { anyOf: [schema, content.schema] },
    examples: { degraded, ...content.examples },
  }
}

/** What a refusal with this code looks like. */
export function failure(code: FaultCode, surface: Surface): Fields {
  const fields =
    code === 'validation_error' ? [{ path: 'name', message: 'is required' }] : undefined
  const message = inWords(messageOf(code), fields)
  if (surface === 'resolver') return { error_code: code, message }
  return {
    status: 'failure',
    error_code: code,
    message,
    ...(fields ? { fields } : {}),
    request_id: '018f3c5e-7d2a-7c31-9b0e-000000000009',
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
