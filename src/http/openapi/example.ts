/**
 * Examples for the documentation, composed of the fields' examples (`.meta({ examples: […] })`). The default depends on
 * the field's type. A test parses each example by its contract.
 */
import type { JsonSchema } from './json_schema.ts'

const byFormat: Record<string, unknown> = {
  uuid: '018f3c5e-7d2a-7c31-9b0e-000000000008',
  'date-time': '2026-03-14T09:26:53.589Z',
  date: '2026-03-14',
}

/** A value that fits the schema. */
export function exampleOf(schema: JsonSchema): unknown {
  const [own] = examplesOf(schema) ?? []
  if (own !== undefined) return own
  const branches = branchesOf(schema)
  if (branches) return exampleOf(likeliest(branches))
  if (schema.type === 'object') return objectExample(schema)
  if (schema.type === 'array') return isEmpty(schema) ? [] : [exampleOf(child(schema.items))]
  return scalarExample(schema)
}

function examplesOf({ examples }: JsonSchema): readonly unknown[] | null {
  return Array.isArray(examples) ? examples : null
}

function scalarExample(schema: JsonSchema): unknown {
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (typeof schema.format === 'string' && schema.format in byFormat) return byFormat[schema.format]
  if (schema.default !== undefined) return schema.default
  switch (typeOf(schema)) {
    case 'string':
      return 'text'.padEnd(Number(schema.minLength ?? 0), '-')
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    default:
      return null
  }
}

/** An optional field with an empty list of examples is left out: it is for special cases. */
function objectExample(schema: JsonSchema): unknown {
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  const fields = Object.entries(child(schema.properties))
    .map(([field, inner]) => [field, child(inner)] as const)
    .filter(([field, inner]) => required.has(field) || examplesOf(inner)?.length !== 0)
    .map(([field, inner]) => [field, exampleOf(inner)])
  const free = child(schema.additionalProperties)
  if (Object.keys(free).length > 0) {
    fields.push([exampleOf(child(schema.propertyNames)) ?? 'name', exampleOf(free)])
  }
  return Object.fromEntries(fields)
}

function branchesOf(schema: JsonSchema): JsonSchema[] | null {
  const branches = schema.anyOf ?? schema.oneOf
  return Array.isArray(branches) ? branches : null
}

/** The first that is not null. */
function likeliest(branches: readonly JsonSchema[]): JsonSchema {
  return branches.find((branch) => branch.type !== 'null') ?? {}
}

function isEmpty(schema: JsonSchema): boolean {
  return schema.maxItems === 0 || 'not' in child(schema.items)
}

function child(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** The type, or the first that is not null of several. */
function typeOf({ type }: JsonSchema): unknown {
  return Array.isArray(type) ? type.find((one) => one !== 'null') : type
}
