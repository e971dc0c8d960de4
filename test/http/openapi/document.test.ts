// tier: quick
/** The generated documentation describes what the server does, is valid, and has true examples. */
import { describe, expect, test } from 'bun:test'
import { validate } from '@readme/openapi-parser'
import { z } from 'zod'
import { messageOf, statusOf } from '../../../src/core/fault.ts'
import { uuid } from '../../../src/core/validation/validate.ts'
import { listAllEndpoints } from '../../../src/dev/all_endpoints.ts'
import { API_DOCS, renderApiDocs } from '../../../src/dev/api_docs.ts'
import { type Endpoint, faultsOf } from '../../../src/http/endpoint.ts'
import { integer, rarelyNeeded, text } from '../../../src/http/fields.ts'
import { type Operation, openApiDocument } from '../../../src/http/openapi/document.ts'
import { exampleOf } from '../../../src/http/openapi/example.ts'
import { jsonSchemaOf } from '../../../src/http/openapi/json_schema.ts'
import { Models, withoutReferences } from '../../../src/http/openapi/models.ts'
import { sentenceOf } from '../../support/failure.ts'

const surfaces = listAllEndpoints()
const endpoints = surfaces.flatMap((surface) => surface.endpoints)
const addresses = {
  'control-plane': 'https://vault.example.com',
  resolver: 'https://resolver.example.com',
}
const document = openApiDocument(surfaces, '1.2.3', addresses)

function operationOf({ path, method }: Endpoint): Operation {
  const found = document.paths[path]?.[method.toLowerCase()]
  if (!found) throw new Error(`${method} ${path} is not in the document`)
  return found
}

test('the document is valid OpenAPI 3.1', async () => {
  const copy = JSON.parse(JSON.stringify(document))
  const outcome = await validate(copy)
  expect(outcome).toMatchObject({ valid: true })
  expect(outcome.warnings ?? []).toEqual([])
})

test('the validator reports an invalid document', async () => {
  const copy = JSON.parse(JSON.stringify(document))
  delete copy.paths['/api/auth/login/'].post.responses
  copy.paths['/api/auth/login/'].post.parameters = [{ name: 'x', in: 'nowhere' }]
  expect((await validate(copy)).valid).toBe(false)
})

test('every endpoint has one operation with a unique name', () => {
  const names = endpoints.map(({ name }) => name)
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual(
    [...new Set(names)].sort(),
  )
  for (const endpoint of endpoints) expect(operationOf(endpoint).operationId).toBe(endpoint.name)
})

describe.each(endpoints.map((endpoint) => [endpoint.name, endpoint] as const))(
  '%s',
  (_, endpoint) => {
    const operation = operationOf(endpoint)

    test('an operation names its path parameters, and only those', () => {
      const inPath = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
      const named = operation.parameters.filter((parameter) => parameter.in === 'path')
      expect(named.map(({ name }) => name).sort()).toEqual(inPath.sort())
      expect(named.every(({ required }) => required)).toBe(true)
    })

    test('an operation documents each of its codes under its status, with an example', () => {
      for (const code of faultsOf(endpoint)) {
        const fields = [{ path: 'name', message: 'is required' }]
        const named = code === 'validation_error' ? fields : []
        const message = sentenceOf(code, messageOf(code), named)
        expect(operation.responses).toHaveProperty(
          [String(statusOf(code)), 'content', 'application/json', 'examples', code, 'value'],
          expect.objectContaining({ error_code: code, message }),
        )
      }
    })

    const parts = ['params', 'query', 'body'] as const
    for (const part of parts.filter((part) => endpoint[part])) {
      test(`an operation has an example of its ${part} that it accepts`, () => {
        const schema = endpoint[part] as z.ZodType
        const example = exampleOf(jsonSchemaOf(schema, 'input'))
        expect(schema.safeParse(example, { reportInput: true }).error?.issues ?? []).toEqual([])
      })
    }

    if (endpoint.result) {
      test('an operation has an example of its result that it could answer', () => {
        const schema = endpoint.result as z.ZodType
        const example = exampleOf(jsonSchemaOf(schema, 'output'))
        const parsed = schema.safeParse(example)
        expect(parsed.error?.issues ?? []).toEqual([])
        // No field is shown that the result schema would drop.
        expect(parsed.data).toEqual(example)
      })
    }
  },
)

const expanded = withoutReferences(document)

test('requests are described in the sent form, results in the returned form', () => {
  const login = expanded.paths['/api/auth/login/']?.post
  expect(login?.security).toEqual([])
  expect(login?.requestBody).toMatchObject({
    required: true,
    content: {
      'application/json': {
        schema: { properties: { email: { type: 'string' } }, additionalProperties: false },
      },
    },
  })
  expect(login?.responses).toMatchObject({
    200: {
      headers: { RateLimit: { $ref: '#/components/headers/RateLimit' } },
      content: {
        'application/json': {
          schema: {
            properties: {
              status: { const: 'success' },
              data: { properties: { expires_at: { type: 'string', format: 'date-time' } } },
            },
          },
        },
      },
    },
    429: { headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } },
  })
})

test('lists describe how to get the next page, and may name the active workspace', () => {
  const projects = expanded.paths['/api/projects/']
  expect(projects?.get?.parameters.map(({ name }) => name).sort()).toEqual(
    ['X-Workspace-Id', 'cursor', 'limit', 'workspace_id'].sort(),
  )
  expect(projects?.get?.responses).toHaveProperty([
    '200',
    'content',
    'application/json',
    'schema',
    'properties',
    'pagination',
  ])
})

test('a parameter is documented only for operations that use it', () => {
  const named = (path: string, method: string) =>
    document.paths[path]?.[method]?.parameters.map(({ name }) => name).sort()
  expect(named('/api/workspaces/{workspace_id}/agents/', 'get')).toEqual([
    'cursor',
    'limit',
    'workspace_id',
  ])
  expect(named('/api/workspaces/', 'get')).toEqual(['cursor', 'limit'])
  expect(named('/api/auth/sessions/', 'get')).toEqual(['cursor', 'limit'])
  // A session names the workspace that it reports for; a token has one.
  expect(named('/api/internal/audit/logs/', 'post')).toEqual(['X-Workspace-Id', 'workspace_id'])
})

test('the resolver has its own error shape and server', () => {
  const resolve = document.paths['/v1/resolve']?.post
  expect(document.servers).toEqual([expect.objectContaining({ url: addresses['control-plane'] })])
  expect(resolve?.servers).toEqual([expect.objectContaining({ url: addresses.resolver })])
  expect(JSON.stringify(resolve?.responses)).toContain('#/components/schemas/ResolverFailure')
  expect(JSON.stringify(resolve?.responses)).not.toContain('#/components/schemas/Failure')
  expect(resolve?.security).toEqual([{ token: ['use'] }])
})

test('health answers 503 in its own shape', () => {
  const content = ['503', 'content', 'application/json', 'schema', 'anyOf', 0, 'properties']
  expect(expanded.paths['/api/status/health/']?.get?.responses).toHaveProperty(
    [...content, 'checks', 'properties', 'database'].map(String),
  )
  expect(expanded.paths['/healthz']?.get?.responses).not.toHaveProperty(content.map(String))
})

/** Every object without a schema name, for which a client could not name the type. */
function unnamed(schema: unknown, path: string): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = 'properties' in schema ? [path] : []
  return [
    ...own,
    ...Object.entries(schema).flatMap(([key, inner]) => unnamed(inner, `${path}.${key}`)),
  ]
}

test('every request and response schema has a name, so generated clients have one type for an agent', () => {
  const content = (operation: Operation) => [
    operation.requestBody?.content,
    ...Object.values(operation.responses as Record<string, { content?: object }>).map(
      (response) => response.content,
    ),
  ]
  const schemas = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap((operation) => content(operation).flatMap((types) => Object.values(types ?? {})))
    .map(({ schema }) => schema)
  expect(schemas.length).toBeGreaterThan(500)
  expect(unnamed(schemas, 'content')).toEqual([])
  const named = Object.keys(document.components.schemas ?? {})
  expect(named).toEqual(
    expect.arrayContaining([
      'Agent',
      'Token',
      'Secret',
      'Member',
      'Project',
      'Workspace',
      'Policy',
    ]),
  )
  // Each text once: an agent is not described again under another name.
  const texts = Object.values(document.components.schemas ?? {}).map((one) => JSON.stringify(one))
  expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([])
})

test('two different schemas with one name are rejected when the document is made', () => {
  const models = new Models()
  models.add('Agent', { type: 'object' })
  expect(models.add('Agent', { type: 'object' })).toEqual({ $ref: '#/components/schemas/Agent' })
  expect(() => models.add('Agent', { type: 'string' })).toThrow('two schemas have the name Agent')
})

test('the document contains no trace of the schema library', () => {
  const text = JSON.stringify(document)
  for (const trace of ['"~standard"', '_zod', '[object', '9007199254740991', '$schema'])
    expect(text).not.toContain(trace)
})

test('every text field has its own example: give a new field one with .meta({ examples: […] })', () => {
  expect(renderApiDocs()).not.toMatch(/"text-*"(?!:)/)
})

test('an optional field for special cases is missing in examples, and present in the schema', () => {
  const field = z.string().optional().meta(rarelyNeeded)
  const schema = jsonSchemaOf(z.object({ id: uuid, field }), 'input')
  expect(exampleOf(schema)).toEqual({ id: expect.stringMatching(/^018f/) })
  expect(schema.properties).toHaveProperty('field')
})

test('the example of a transformed field shows the sent value', () => {
  const days = z
    .string()
    .transform(Number)
    .meta({ examples: ['7'] })
  expect(exampleOf(jsonSchemaOf(z.object({ days }), 'input'))).toEqual({ days: '7' })
})

test('the free keys of a record have the name that their schema gives', () => {
  const schema = z.record(text('DATABASE_URL'), integer(3))
  expect(exampleOf(jsonSchemaOf(schema, 'output'))).toEqual({ DATABASE_URL: 3 })
})

test('docs/reference/api.md is up to date with the contracts (bun src/dev/api_docs.ts writes it)', async () => {
  expect(await Bun.file(API_DOCS).text()).toBe(renderApiDocs())
})
