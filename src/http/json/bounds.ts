/**
 * The bounds of a valid body, from the JSON Schema that also documents it: types, lengths of texts, lists and maps, and
 * field names. The JSON reader checks them while it reads, so that oversized or wrong values never use memory (protocol
 * 2).
 */
import type { z } from 'zod'
import { type JsonSchema, jsonSchemaOf } from '../openapi/json_schema.ts'

export type Bounds = {
  text: TextBounds | null
  number: boolean
  boolean: boolean
  null: boolean
  list: ListBounds | null
  object: ObjectBounds | null
}

/** In UTF-16 units. */
export type TextBounds = { maxLength: number }
export type ListBounds = { maxItems: number; items: Bounds }

export type ObjectBounds = {
  maxProperties: number
  properties: ReadonlyMap<string, Bounds>
  required: readonly string[]
  /** The rule for fields that `properties` does not name; `closed` admits none, `ignored` are not kept. */
  others: Bounds | 'closed' | 'ignored'
}

/** Names in one object that is no map. */
const MAX_NAMES = 1000

/** The bounds of an unknown body. */
export const unbounded: Bounds = {
  text: { maxLength: Number.POSITIVE_INFINITY },
  number: true,
  boolean: true,
  null: true,
  get list() {
    return anyList
  },
  get object() {
    return anyObject
  },
}
const anyList: ListBounds = { maxItems: Number.POSITIVE_INFINITY, items: unbounded }
const anyObject: ObjectBounds = {
  maxProperties: Number.POSITIVE_INFINITY,
  properties: new Map(),
  required: [],
  others: unbounded,
}

const known = new WeakMap<z.ZodType, Bounds>()

/** The bounds of a schema's input. */
export function boundsOf(schema: z.ZodType): Bounds {
  const found = known.get(schema)
  if (found) return found
  const bounds = fromJsonSchema(jsonSchemaOf(schema, 'input'))
  known.set(schema, bounds)
  return bounds
}

function fromJsonSchema(schema: JsonSchema): Bounds {
  const branches = schema.anyOf ?? schema.oneOf
  if (Array.isArray(branches)) return branches.map(fromJsonSchema).reduce(uniteBounds)
  if (schema.type === undefined && !('not' in schema)) return unbounded
  const types = new Set(Array.isArray(schema.type) ? schema.type : [schema.type])
  return {
    text: types.has('string') ? { maxLength: capBound(schema.maxLength) } : null,
    number: types.has('number') || types.has('integer'),
    boolean: types.has('boolean'),
    null: types.has('null'),
    list: types.has('array') ? listOf(schema) : null,
    object: types.has('object') ? objectOf(schema) : null,
  }
}

function listOf({ maxItems, items }: JsonSchema): ListBounds {
  return {
    maxItems: capBound(maxItems),
    items: isSchema(items) ? fromJsonSchema(items) : unbounded,
  }
}

function objectOf(schema: JsonSchema): ObjectBounds {
  const { maxProperties, properties, required, additionalProperties: others } = schema
  return {
    maxProperties: isSchema(others) ? capBound(maxProperties) : MAX_NAMES,
    properties: new Map(
      Object.entries(properties ?? {}).map(([name, inner]) => [name, fromJsonSchema(inner)]),
    ),
    required: Array.isArray(required) ? required : [],
    others: isSchema(others) ? fromJsonSchema(others) : others === false ? 'closed' : 'ignored',
  }
}

function capBound(limit: unknown): number {
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null
}

/** The union of two bounds. */
function uniteBounds(a: Bounds, b: Bounds): Bounds {
  return {
    text: join(a.text, b.text, (x, y) => ({ maxLength: Math.max(x.maxLength, y.maxLength) })),
    number: a.number || b.number,
    boolean: a.boolean || b.boolean,
    null: a.null || b.null,
    list: join(a.list, b.list, (x, y) => ({
      maxItems: Math.max(x.maxItems, y.maxItems),
      items: uniteBounds(x.items, y.items),
    })),
    object: join(a.object, b.object, uniteObjectBounds),
  }
}

function uniteObjectBounds(a: ObjectBounds, b: ObjectBounds): ObjectBounds {
  const properties = new Map(a.properties)
  for (const [name, bounds] of b.properties) {
    const other = properties.get(name)
    properties.set(name, other ? uniteBounds(other, bounds) : bounds)
  }
  return {
    maxProperties: Math.max(a.maxProperties, b.maxProperties),
    properties,
    required: a.required.filter((name) => b.required.includes(name)),
    others: uniteOtherBounds(a.others, b.others),
  }
}

function uniteOtherBounds(
  a: ObjectBounds['others'],
  b: ObjectBounds['others'],
): ObjectBounds['others'] {
  if (typeof a !== 'string' && typeof b !== 'string') return uniteBounds(a, b)
  if (typeof a !== 'string') return a
  return a === 'ignored' && typeof b === 'string' ? a : b
}

function join<T>(a: T | null, b: T | null, both: (a: T, b: T) => T): T | null {
  return a && b ? both(a, b) : (a ?? b)
}
