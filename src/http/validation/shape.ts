/**
 * Results in the shape of their contract. What a schema does not name does not leave; what it demands and is
 * missing, or of another type, is found. What our own rows cannot violate, such as the form of an id, is not
 * looked at again: the schema is taken apart once, and its copy of a list costs a fraction of zod's verdict.
 * For all that is not built of lists, objects and simple values zod itself is asked.
 */
import { z } from 'zod'
import { isMoment, timestamp } from '../../core/validation/validate.ts'

type Schema = z.core.$ZodType
type Def = z.core.$ZodTypes['_zod']['def']
type Shape = (value: unknown) => unknown

/** Thrown by a shape; zod then reports the fault. */
class Misfit extends Error {}
const misfit = new Misfit('not in the contract')

const shapes = new WeakMap<Schema, Shape>()

/** Either the shaped `data`, or zod's issues. */
export function shape(
  schema: z.ZodType,
  value: unknown,
): { data: unknown } | { error: z.core.$ZodError } {
  try {
    return { data: shapeOf(schema)(value) }
  } catch (error) {
    if (error !== misfit) throw error
    const { data, error: complaint } = schema.safeParse(value)
    return complaint ? { error: complaint } : { data }
  }
}

function shapeOf(schema: Schema): Shape {
  const known = shapes.get(schema)
  if (known) return known
  const made = introspect(schema)
  shapes.set(schema, made)
  return made
}

function introspect(schema: Schema): Shape {
  const def = (schema as z.core.$ZodTypes)._zod.def
  switch (def.type) {
    case 'string':
      return textShape(def.checks ?? [])
    case 'number':
      return (value) => (Number.isFinite(value) ? value : refuse())
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? value : refuse())
    case 'unknown':
      return (value) => value
    case 'nullable':
      return exceptFor(null, shapeOf(def.innerType))
    case 'optional':
      return exceptFor(undefined, shapeOf(def.innerType))
    case 'array':
      return isChecked(def) ? askZod(schema) : listShape(shapeOf(def.element))
    case 'object':
      return isChecked(def) || def.catchall ? askZod(schema) : objectShape(def.shape)
    case 'pipe':
      return def.out === timestamp.def.out ? timeShape : askZod(schema)
    default:
      return askZod(schema)
  }
}

function isChecked({ checks = [] }: Def): boolean {
  return checks.length > 0
}

/** Changes, such as to lower case, are made; forms are not looked at. */
function textShape(checks: readonly z.core.$ZodCheck[]): Shape {
  const changes = checks.flatMap(({ _zod }) =>
    _zod.def.check === 'overwrite' ? [(_zod.def as z.core.$ZodCheckOverwriteDef<string>).tx] : [],
  )
  return (value) =>
    typeof value === 'string' ? changes.reduce((text, change) => change(text), value) : refuse()
}

function exceptFor(absent: null | undefined, inner: Shape): Shape {
  return (value) => (value === absent ? value : inner(value))
}

function listShape(element: Shape): Shape {
  return (value) => (Array.isArray(value) ? value.map(element) : refuse())
}

function objectShape(fields: Readonly<Record<string, Schema>>): Shape {
  const shaped = Object.entries(fields).map(([name, field]) => ({ name, inner: shapeOf(field) }))
  return (value) => {
    if (typeof value !== 'object' || value === null) return refuse()
    const source = value as Record<string, unknown>
    const object: Record<string, unknown> = {}
    for (const { name, inner } of shaped) {
      const field = inner(source[name])
      if (field !== undefined) object[name] = field
    }
    return object
  }
}

/** In the form of the wire already, where the database wrote it. */
function timeShape(value: unknown): string {
  if (typeof value === 'string') return value
  return isMoment(value) ? value.toISOString() : refuse()
}

function askZod(schema: Schema): Shape {
  return (value) => {
    const { success, data } = z.safeParse(schema, value)
    return success ? data : refuse()
  }
}

function refuse(): never {
  throw misfit
}
