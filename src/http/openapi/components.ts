/** Shared components of the document: the shapes of errors and pages, and headers. */

import { type FaultCode, formatInWords, messageOf, statusOf } from '../../core/fault.ts'
import { adviceFor } from '../advice.ts'
import { forwardFailure } from '../forward_refusal.ts'
import type { Surface } from '../reply.ts'
import type { JsonSchema } from './json_schema.ts'

const string = { type: 'string' }
export const EXAMPLE_CURSOR = 'bmV4dC1wYWdlLXN0YXJ0cy1oZXJl'
const EXAMPLE_APPROVAL = {
  id: '018f3c5e-7d2a-7c31-9b0e-000000000010',
  expires_at: '2026-03-14T09:26:53.589Z',
}

/** Each listener has one, and forward mode its own. */
export type FailureShape = Surface | 'forward'

export const failureModels: Record<FailureShape, string> = {
  'control-plane': 'Failure',
  resolver: 'ResolverFailure',
  forward: 'ForwardFailure',
}

const advice: Record<string, JsonSchema> = {
  fix: {
    type: 'object',
    description: 'remedy: a command to run, or a server setting',
    properties: { command: { type: 'array', items: string }, setting: string },
  },
  docs: { ...string, description: 'page below docs/ that explains the code' },
}

/** Beside `approval_required`. */
const approval: Record<string, JsonSchema> = {
  approval: {
    type: 'object',
    description: 'with approval_required: the request for a member',
    properties: {
      id: { ...string, format: 'uuid' },
      expires_at: { ...string, format: 'date-time' },
    },
    required: ['id', 'expires_at'],
  },
}

export const sharedSchemas: Record<string, JsonSchema> = {
  Failure: {
    type: 'object',
    description: 'Error of the control plane.',
    properties: {
      status: { const: 'failure' },
      error_code: { ...string, description: 'stable code for programs' },
      message: { ...string, description: 'text for people; may change' },
      fields: {
        type: 'array',
        description: 'with validation_error: the invalid fields and the reasons',
        items: {
          type: 'object',
          properties: { path: string, message: string },
          required: ['path', 'message'],
        },
      },
      ...advice,
      request_id: { ...string, format: 'uuid', description: 'also in X-Request-Id and in the log' },
    },
    required: ['status', 'error_code', 'message', 'request_id'],
  },
  ResolverFailure: {
    type: 'object',
    description: 'Error of the resolver.',
    properties: { error_code: string, message: string, ...advice, ...approval },
    required: ['error_code', 'message'],
  },
  ForwardFailure: {
    type: 'object',
    description: 'Error of forward mode, with the error repeated in the place that SDKs read.',
    properties: {
      error_code: string,
      message: string,
      ...advice,
      ...approval,
      error: {
        type: 'object',
        properties: { type: string, code: string, message: string },
        required: ['type', 'code', 'message'],
      },
    },
    required: ['error_code', 'message', 'error'],
  },
  Pagination: {
    type: 'object',
    properties: {
      next_cursor: {
        type: ['string', 'null'],
        description: '`cursor` of the next page; null on the last page',
        examples: [EXAMPLE_CURSOR],
      },
    },
    required: ['next_cursor'],
  },
}

export const responseHeaders: Record<string, Record<string, unknown>> = {
  'X-Request-Id': { description: 'ID of this request in the log.', schema: { ...string } },
  RateLimit: {
    description: 'Remaining quota: `r` requests; full again in `t` seconds.',
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
  'WWW-Authenticate': {
    description: 'RFC 6750. Forward mode also accepts a token in Basic credentials.',
    schema: { enum: ['Bearer', 'Bearer, Basic realm="cloakroom"'] },
  },
}

/** An example of an error with this code. */
export function failure(code: FaultCode, shape: FailureShape): Record<string, unknown> {
  const fields =
    code === 'validation_error' ? [{ path: 'name', message: 'is required' }] : undefined
  const message = formatInWords(messageOf(code), fields)
  const asked = code === 'approval_required' ? { approval: EXAMPLE_APPROVAL } : {}
  if (shape === 'resolver') return { error_code: code, message, ...adviceFor(code), ...asked }
  if (shape === 'forward')
    return { ...forwardFailure(code, statusOf(code), message), ...adviceFor(code), ...asked }
  return {
    status: 'failure',
    error_code: code,
    message,
    ...(fields ? { fields } : {}),
    ...adviceFor(code),
    request_id: '018f3c5e-7d2a-7c31-9b0e-000000000009',
  }
}
