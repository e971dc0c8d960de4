/**
 * Replaces zod in browsers: the names and methods that the contracts use, over the same core, without JSON Schema,
 * compilation, translations and other formats. TypeScript checks the contracts against zod itself.
 *
 * A missing method throws when the page loads. test/console/zod_in_the_page.test.ts compares the results of both.
 */
import * as core from 'zod/v4/core'

// biome-ignore lint/suspicious/noExplicitAny: callers see the types of zod
type Untyped = any
type Members = Record<string, (this: Untyped, ...given: Untyped[]) => unknown>

const any: Members = {
  check(...checks) {
    const { def } = this._zod
    return core.clone(
      this,
      { ...def, checks: [...(def.checks ?? []), ...checks] },
      { parent: true },
    )
  },
  refine(check, params) {
    return this.check(core._refine(Custom, check, params))
  },
  superRefine(check) {
    return this.check(core._superRefine(check))
  },
  optional() {
    return core._optional(Optional, this)
  },
  nullable() {
    return core._nullable(Nullable, this)
  },
  nullish() {
    return this.nullable().optional()
  },
  default(value) {
    return core._default(Default, this, value)
  },
  catch(value) {
    return core._catch(Catch, this, value)
  },
  pipe(next) {
    return core._pipe(Pipe, this, next)
  },
  transform(change) {
    return this.pipe(transform(change))
  },
  /** Only the documentation reads it. */
  meta() {
    return this
  },
  parse(value, params) {
    return core.parse(this, value, params)
  },
  safeParse(value, params) {
    return core.safeParse(this, value, params)
  },
}
const lists: Members = {
  min: withCheck(core._minLength),
  max: withCheck(core._maxLength),
  length: withCheck(core._length),
}
const strings: Members = {
  ...lists,
  regex: withCheck(core._regex),
  toLowerCase: withCheck(core._toLowerCase),
  toUpperCase: withCheck(core._toUpperCase),
}
const numbers: Members = {
  min: withCheck(core._gte),
  max: withCheck(core._lte),
  int: withCheck(int),
}
const objects: Members = {
  extend(shape) {
    return core.util.extend(this, shape)
  },
  pick(mask) {
    return core.util.pick(this, mask)
  },
  omit(mask) {
    return core.util.omit(this, mask)
  },
}

const Any = kind(core.$ZodAny)
const Unknown = kind(core.$ZodUnknown)
const Never = kind(core.$ZodNever)
const Flag = kind(core.$ZodBoolean)
const Text = kind(core.$ZodString, strings)
const Email = kind(core.$ZodEmail, strings)
const DateTime = kind(core.$ZodISODateTime, strings)
const Day = kind(core.$ZodISODate, strings)
const Float = kind(core.$ZodNumber, numbers)
const Integer = kind(core.$ZodNumberFormat, numbers)
const Choice = kind(core.$ZodEnum)
const Literal = kind(core.$ZodLiteral)
const List = kind(core.$ZodArray, lists)
const Tuple = kind(core.$ZodTuple)
const Dictionary = kind(core.$ZodRecord)
const Fields = kind(core.$ZodObject, objects)
const Union = kind(core.$ZodUnion)
const Variants = kind(core.$ZodDiscriminatedUnion)
const Optional = kind(core.$ZodOptional)
const Nullable = kind(core.$ZodNullable)
const Default = kind(core.$ZodDefault)
const Catch = kind(core.$ZodCatch)
const Pipe = kind(core.$ZodPipe)
const Preprocess = kind(core.$ZodPreprocess)
const Transform = kind(core.$ZodTransform)
const Custom = kind(core.$ZodCustom)

/** A kind of schema with methods. */
function kind(inner: Untyped, own: Members = {}): Untyped {
  const initialize = (schema: Untyped, def: Untyped) => {
    inner.init(schema, def)
    if (own === objects) Object.defineProperty(schema, 'shape', { get: () => def.shape })
  }
  return core.$constructor<Untyped>(`Page${inner.name}`, initialize, { ...any, ...own })
}

function withCheck(make: Untyped): (this: Untyped, ...given: Untyped[]) => unknown {
  return function (...given) {
    return this.check(make(...given))
  }
}

function int(params?: Untyped) {
  return core._int(Integer, params)
}

function transform(change: (value: unknown, context: Untyped) => unknown) {
  const made = core._transform(Transform, (value, context: Untyped) => {
    context.addIssue = (issue: object) =>
      context.issues.push({ code: 'custom', input: value, inst: made, ...issue })
    return change(value, context)
  })
  return made
}

function object(shape: Untyped, catchall?: Untyped) {
  return new Fields({ type: 'object', shape, catchall })
}

export const z = {
  any: () => core._any(Any),
  unknown: () => core._unknown(Unknown),
  never: () => core._never(Never),
  boolean: () => core._boolean(Flag),
  string: () => core._string(Text),
  email: () => core._email(Email),
  iso: {
    date: (params: Untyped) => core._isoDate(Day, params),
    datetime: (params: Untyped) => core._isoDateTime(DateTime, params),
  },
  int,
  number: () => core._number(Float),
  enum: (values: Untyped) => core._enum(Choice, values),
  literal: (value: Untyped) => core._literal(Literal, value),
  array: (element: Untyped) => core._array(List, element),
  tuple: (items: Untyped, rest: Untyped) => core._tuple(Tuple, items, rest),
  record: (key: Untyped, value: Untyped) => core._record(Dictionary, key, value),
  object: (shape: Untyped) => object(shape),
  strictObject: (shape: Untyped) => object(shape, core._never(Never)),
  union: (options: Untyped, params: Untyped) => core._union(Union, options, params),
  discriminatedUnion: (field: string, options: Untyped) =>
    core._discriminatedUnion(Variants, field, options),
  preprocess: (change: Untyped, out: unknown) =>
    new Preprocess({ type: 'pipe', in: transform(change), out }),
  NEVER: core.NEVER,
  core: { clone: core.clone, safeParse: core.safeParse },
  toJSONSchema: () => ({}),
}
