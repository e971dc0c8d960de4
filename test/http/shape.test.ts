// tier: quick
/** Responses have only the fields of their contract: compiled shapes and zod return the same, for every contract. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { z } from 'zod'
import { timestamp, uuid } from '../../src/core/validation/validate.ts'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import { exampleOf } from '../../src/http/openapi/example.ts'
import { jsonSchemaOf } from '../../src/http/openapi/json_schema.ts'
import { shape } from '../../src/http/validation/shape.ts'

const NOW = new Date('2026-11-22T10:00:00.120Z')
const row = z.object({
  id: uuid,
  name: z.string(),
  note: z.string().nullable(),
  count: z.number().int(),
  value: z.string().optional(),
  policy: z.unknown(),
  list: z.array(z.object({ isOn: z.boolean() })),
  created_at: timestamp.meta({ examples: ['x'] }),
})
const fitting = {
  id: '018F3A1E-0000-7000-8000-000000000001',
  name: 'a',
  note: null,
  count: 1,
  value: undefined,
  policy: { allowed_hosts: ['a.example'] },
  list: [{ isOn: true, secret: 'inside' }],
  created_at: NOW,
  sealed: 'a column too many',
}

const dataOf = (schema: z.ZodType, value: unknown) => {
  const outcome = shape(schema, value)
  return 'data' in outcome ? outcome.data : undefined
}

test('a response has no field that its schema does not name, at any depth', () => {
  const data = dataOf(z.array(row), [fitting])
  expect(JSON.stringify(data)).toBe(JSON.stringify(z.array(row).parse([fitting])))
  expect(JSON.stringify(data)).not.toMatch(/sealed|inside|too many/)
})

test('a required field that is missing or has another type is found and named', () => {
  const wrong: Record<string, unknown> = {
    id: 1,
    name: undefined,
    note: undefined,
    count: '1',
    value: null,
    list: {},
    created_at: null,
  }
  for (const [name, value] of Object.entries(wrong)) {
    const outcome = shape(z.array(row), [fitting, { ...fitting, [name]: value }])
    const paths = 'error' in outcome ? outcome.error.issues.map(({ path }) => path.join('.')) : []
    expect(paths).toEqual([`1.${name}`])
  }
  for (const value of [null, undefined, 'text', 1, [], [null]]) {
    expect('error' in shape(row, value)).toBe(true)
  }
})

test('a time that the database formatted for the wire stays unchanged', () => {
  const text = NOW.toISOString()
  expect(dataOf(timestamp, text)).toBe(text)
  expect(dataOf(timestamp, NOW)).toBe(text)
})

test('any value is shaped the way zod shapes it, or rejected if zod rejects it', () => {
  const schemas: z.ZodType[] = [
    row.omit({ id: true, created_at: true }),
    z.array(z.string().nullable().optional()),
    z.strictObject({ name: z.string() }),
    z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]),
    z.record(z.string(), z.object({ a: z.boolean() })),
    z.array(z.number()).max(2),
    z.object({ kind: z.enum(['a', 'b']), only: z.literal('x').optional() }),
    z.string().toLowerCase(),
  ]
  const leaf = fc.oneof(
    fc.string(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.constant(undefined),
  )
  const names = fc.constantFrom(
    'a',
    'b',
    'name',
    'note',
    'count',
    'value',
    'policy',
    'list',
    'isOn',
    'kind',
    'only',
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(names, tie('value')),
    ),
  }))
  fc.assert(
    fc.property(fc.constantFrom(...schemas), value, (schema, input) => {
      const { success, data } = schema.safeParse(input)
      const outcome = shape(schema, input)
      expect('data' in outcome).toBe(success)
      if (success)
        expect(JSON.stringify(dataOf(schema, input))).toBe(JSON.stringify(data) as string)
    }),
    { numRuns: 2_000 },
  )
})

test('the documented example of every contract keeps its shape', () => {
  const shapedAlike = listAllEndpoints().flatMap(({ endpoints }) =>
    endpoints.flatMap(({ name, result }) => {
      if (!result) return []
      const example = exampleOf(jsonSchemaOf(result, 'output'))
      const parsed = result.safeParse(example)
      if (!parsed.success) return []
      expect([name, dataOf(result, example)]).toEqual([name, parsed.data])
      return [name]
    }),
  )
  expect(shapedAlike.length).toBeGreaterThan(40)
})
