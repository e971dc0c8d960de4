/**
 * Zod schemas as JSON Schema (draft 2020-12), for documentation: zod's output for machines, such as the pattern of a
 * date, becomes a common format.
 */
import { z } from 'zod'

export type JsonSchema = { readonly [keyword: string]: unknown }

/** `input` is the schema of requests, `output` of responses. */
export type Direction = 'input' | 'output'

const UUID = /^\^\[0-9a-f\]\{8\}-.*\{12\}\$$/

/** The whole schema in one piece: models (`.meta({ id })`) are inlined. */
export function jsonSchemaOf(schema: z.ZodType, direction: Direction): JsonSchema {
  return convert(schema, direction, { get: anonymous, has: (one) => z.globalRegistry.has(one) })
}

/** The schema with `{"$ref":"#/$defs/Name"}` in the place of its models, and those by name. */
export function referringSchemaOf(
  schema: z.ZodType,
  direction: Direction,
): { schema: JsonSchema; models: Record<string, JsonSchema> } {
  const { $defs = {}, ...rest } = convert(schema, direction, z.globalRegistry)
  return { schema: rest, models: $defs as Record<string, JsonSchema> }
}

type Registry = Pick<typeof z.globalRegistry, 'get' | 'has'>

function anonymous(schema: z.core.$ZodType): z.core.GlobalMeta | undefined {
  const { id: _, ...meta } = z.globalRegistry.get(schema) ?? {}
  return meta
}

function convert(schema: z.ZodType, io: Direction, metadata: Registry): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    metadata: metadata as typeof z.globalRegistry,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      tidy(jsonSchema, io)
      // Zod drops them where a transformation follows, although they are of the input.
      const { examples, format } = z.globalRegistry.get(zodSchema) ?? {}
      if (Array.isArray(examples)) jsonSchema.examples = examples
      if (typeof format === 'string') jsonSchema.format = format
      const { def } = zodSchema._zod
      // A default date is a moment before now.
      if (def.type === 'default' && !(def.defaultValue instanceof Date))
        jsonSchema.default = def.defaultValue
    },
  })
  return rest
}

function tidy(schema: Record<string, unknown>, io: Direction): void {
  const { pattern, format } = schema
  if (typeof pattern === 'string' && UUID.test(pattern)) schema.format = 'uuid'
  if (
    schema.format === 'uuid' ||
    format === 'date-time' ||
    format === 'date' ||
    format === 'email'
  ) {
    delete schema.pattern
  }
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  // Results may get new fields, which clients ignore.
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties
}
