// tier: quick
/** Numbers in queries, paths and forward-mode headers are written in decimal digits, and in no other form. */
import { describe, expect, test } from 'bun:test'
import type { z } from 'zod'
import { Fault } from '../../src/core/fault.ts'
import { parsePart } from '../../src/core/validation/validate.ts'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import { exampleOf } from '../../src/http/openapi/example.ts'
import { jsonSchemaOf } from '../../src/http/openapi/json_schema.ts'
import { forwardSettings } from '../../src/resolver/forwarding/contract.ts'

const OTHER_FORMS = [
  ...['0x10', '0b1', '0o7', '1e2', '1E2', '1_0', '1,0', '١', '１'],
  ...['+5', '-0', '-5', '5.0', '.5', 'Infinity', 'NaN', 'true', 'null'],
  ...['', ' ', ' 5', '5 ', '\t5', '5\n', '\ufeff5', '5\0'],
]

type Part = readonly [title: string, schema: z.ZodType]

const texts: Part[] = [
  ['the headers of forward mode', forwardSettings],
  ...listAllEndpoints()
    .flatMap(({ endpoints }) => endpoints)
    .flatMap(({ name, query, params }): Part[] => [
      ...(query ? [[`the query of ${name}`, query] as const] : []),
      ...(params ? [[`the path of ${name}`, params] as const] : []),
    ]),
]

const numbers = texts.flatMap(([title, schema]) =>
  Object.entries(Object(jsonSchemaOf(schema, 'input').properties))
    .filter(([, field]) => /"(integer|number)"/.test(JSON.stringify(Object(field))))
    .map(([field]) => [title, field, schema] as const),
)

function faultOf(schema: z.ZodType, value: unknown): unknown {
  try {
    parsePart(schema, value)
    return null
  } catch (error) {
    return error
  }
}

test('the list of numbers includes the limit of lists and the timeout of forwarded calls', () => {
  const fields = new Set(numbers.map(([, field]) => field))
  expect(fields).toContain('limit')
  expect(fields).toContain('timeout_ms')
  expect(numbers.length).toBeGreaterThan(20)
})

describe.each(numbers)('%s: %s', (_, field, schema) => {
  const json = jsonSchemaOf(schema, 'input')
  const example = Object(exampleOf(json)) as Record<string, unknown>
  const { minimum } = Object(json.properties)[field] as { minimum: number }

  test('accepts decimal digits', () => {
    expect(faultOf(schema, { ...example, [field]: String(minimum) })).toBeNull()
  })

  test('refuses every other form, and names the field', () => {
    for (const form of OTHER_FORMS) {
      const fault = faultOf(schema, { ...example, [field]: form })
      if (!(fault instanceof Fault)) throw new Error(`accepts ${JSON.stringify(form)}`)
      expect(fault.code).toBe('validation_error')
      expect(fault.fields).toEqual([
        { path: field, message: 'must be a whole number, in digits only' },
      ])
    }
  })
})
