/**
 * Zod schemas as JSON Schema (draft 2020-12), for documentation: what zod writes for machines, such
 * as the expression behind a date, becomes the format that people know.
 */
import { z } from 'zod'

export type JsonSchema = { readonly [keyword: string]: unknown }

const UUID = /^\^\[0-9a-f\]\{8\}-.*\{12\}\$$/

/** `input` is what a client may send, `output` what it gets. */
export function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      tidy(jsonSchema, io)
      // Zod drops them where a transformation follows, although they are of the input.
      const examples = z.globalRegistry.get(zodSchema)?.examples
      if (Array.isArray(examples)) jsonSchema.examples = examples
    },
  })
  return rest
}

function tidy(schema: Record<string, unknown>, io: 'input' | 'output'): void {
  const { pattern, format } = schema
  if (typeof pattern === 'string' && UUID.test(pattern)) schema.format = 'uuid'
  if (schema.format === 'uuid' || format === 'date-time' || format === 'email') {
    delete schema.pattern
  }
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  // Results grow: a client ignores what it does not know.
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties
}
