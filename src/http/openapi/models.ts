/**
 * The named schemas of the document (`components.schemas`), so that generated clients have one type for
 * an agent and not one for each place where an agent is answered.
 */
import type { z } from 'zod'
import { type Direction, type JsonSchema, referringSchemaOf } from './json_schema.ts'

export class Models {
  readonly schemas: Record<string, JsonSchema> = {}

  /** A reference to the schema under a name. */
  add(name: string, schema: JsonSchema): JsonSchema {
    const known = this.schemas[name]
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two schemas have the name ${name}`)
    }
    this.schemas[name] = schema
    return { $ref: `#/components/schemas/${name}` }
  }

  /** A reference to a zod schema, which gets `name` unless it is a model or a list of models. */
  of(zodSchema: z.ZodType, direction: Direction, name: string): JsonSchema {
    const { schema, models } = placeReferences(referringSchemaOf(zodSchema, direction))
    for (const [known, model] of Object.entries(models)) this.add(known, model)
    return isReference(schema) || isReference(schema.items) ? schema : this.add(name, schema)
  }
}

function isReference(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && '$ref' in schema
}

/** With the references as the document writes them. */
function placeReferences<T>(schemas: T): T {
  return JSON.parse(JSON.stringify(schemas).replaceAll('"#/$defs/', '"#/components/schemas/'))
}

/** The document with inlined models, for viewers that show one operation at a time. */
export function withoutReferences<T extends { components: Record<string, unknown> }>(
  document: T,
): T {
  const schemas = document.components.schemas as Record<string, JsonSchema>
  const expand = (part: unknown): unknown =>
    JSON.parse(JSON.stringify(part), (_, value) => {
      const name = String(value?.$ref ?? '').match(/^#\/components\/schemas\/(\w+)$/)?.[1]
      return name === undefined ? value : expand(schemas[name])
    })
  return expand(document) as T
}
