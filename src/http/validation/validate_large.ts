/**
 * Validation of megabytes: the verdict of zod, reached entry by entry. Lists and maps are validated in
 * time slices, and no entry is looked at after as many complaints as a response lists
 * (protocol 2). Of each container zod still judges what it says of the whole, over
 * entries that are valid already.
 */
import { z } from 'zod'
import { TimeSlice } from '../../core/async/time_slice.ts'
import { type Issue, MAX_COMPLAINTS, prefixIssue } from '../../core/validation/complaints.ts'

type Outcome = { data: unknown; issues: Issue[] }
type Schema = z.core.$ZodType
type Def = z.core.$ZodTypes['_zod']['def']
type DefOf<T extends Def['type']> = Extract<Def, { type: T }>

/** The result of zod, and its complaints: about as many as a response lists. */
export function validateLarge(schema: z.ZodType, value: unknown): Promise<Outcome> {
  return validate(schema, value, new TimeSlice())
}

async function validate(schema: Schema, value: unknown, slice: TimeSlice): Promise<Outcome> {
  await slice.waitForNextSlice()
  const def = defOf(schema)
  if (value === null || value === undefined) return judge(schema, value)
  if (def.type === 'array' && Array.isArray(value)) return validateList(schema, def, value, slice)
  if (def.type === 'record' && isObject(value)) return validateMap(schema, def, value, slice)
  if (def.type === 'object' && isObject(value)) return validateObject(schema, def, value, slice)
  if (def.type === 'union') return validateUnion(schema, def, value, slice)
  const inner = innerOf(def)
  if (!inner || !mayHoldList(inner)) return judge(schema, value)
  const outcome = await validate(inner, value, slice)
  return outcome.issues.length > 0 ? outcome : judge(toHollow(schema), outcome.data)
}

async function validateList(
  schema: Schema,
  { element }: DefOf<'array'>,
  value: unknown[],
  slice: TimeSlice,
): Promise<Outcome> {
  const data: unknown[] = []
  const issues: Issue[] = []
  const isDeep = mayHoldList(element)
  for (const [index, entry] of value.entries()) {
    const outcome = isDeep ? await validate(element, entry, slice) : judge(element, entry)
    data.push(outcome.data)
    for (const issue of outcome.issues) issues.push(prefixIssue(issue, [index]))
    if (issues.length >= MAX_COMPLAINTS) break
    if (slice.isSpent) await slice.waitForNextSlice()
  }
  return issues.length > 0 ? { data, issues } : judge(toHollow(schema), data)
}

async function validateMap(
  schema: Schema,
  { keyType, valueType }: DefOf<'record'>,
  value: Record<string, unknown>,
  slice: TimeSlice,
): Promise<Outcome> {
  const data: Record<string, unknown> = {}
  const issues: Issue[] = []
  for (const [name, entry] of Object.entries(value)) {
    // A record of one judges the name as zod does.
    const outcome = judge(z.record(keyType, valueType), { [name]: entry })
    Object.assign(data, outcome.data)
    issues.push(...outcome.issues)
    if (issues.length >= MAX_COMPLAINTS) break
    if (slice.isSpent) await slice.waitForNextSlice()
  }
  return issues.length > 0 ? { data, issues } : judge(toHollow(schema), data)
}

/** Fields that may hold lists one by one, then the rest as a whole. */
async function validateObject(
  schema: Schema,
  { shape }: DefOf<'object'>,
  value: Record<string, unknown>,
  slice: TimeSlice,
): Promise<Outcome> {
  const data = { ...value }
  const issues: Issue[] = []
  for (const [name, field] of Object.entries(shape)) {
    if (!mayHoldList(field)) continue
    const outcome = await validate(field, value[name], slice)
    if (outcome.data !== undefined) data[name] = outcome.data
    for (const issue of outcome.issues) issues.push(prefixIssue(issue, [name]))
    if (issues.length >= MAX_COMPLAINTS) break
  }
  // Zod's checks of the whole object are for objects with valid fields.
  const rest = judge(issues.length > 0 ? toUnchecked(toHollow(schema)) : toHollow(schema), data)
  return { data: rest.data, issues: inOrderOf(Object.keys(shape), [...issues, ...rest.issues]) }
}

async function validateUnion(
  schema: Schema,
  { options }: DefOf<'union'>,
  value: unknown,
  slice: TimeSlice,
): Promise<Outcome> {
  const errors: Issue[][] = []
  for (const option of options.filter((each) => isOfKind(each, value))) {
    const outcome = await validate(option, value, slice)
    if (outcome.issues.length === 0) return judge(toHollow(schema), outcome.data)
    errors.push(outcome.issues)
  }
  if (errors.length === 0) return judge(schema, value)
  const issue: Issue = { code: 'invalid_union', errors, path: [], message: '' }
  return { data: undefined, issues: [issue] }
}

function judge(schema: Schema, value: unknown): Outcome {
  const { data, error } = z.core.safeParse(schema, value, { reportInput: true })
  return { data, issues: error?.issues ?? [] }
}

function inOrderOf(names: readonly string[], issues: readonly Issue[]): Issue[] {
  const rank = ({ path: [name] }: Issue) => {
    const position = names.indexOf(String(name))
    return position < 0 ? names.length : position
  }
  return [...issues].sort((a, b) => rank(a) - rank(b))
}

/** `false` only for values that the schema obviously rejects. */
function isOfKind(schema: Schema, value: unknown): boolean {
  const def = defOf(schema)
  if (def.type === 'array') return Array.isArray(value)
  if (def.type === 'object' || def.type === 'record') return isObject(value)
  const inner = innerOf(def)
  return inner ? isOfKind(inner, value) : true
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const holders = new WeakMap<Schema, boolean>()

/** Whether any number of entries may stand in it. */
function mayHoldList(schema: Schema): boolean {
  const known = holders.get(schema)
  if (known !== undefined) return known
  const def = defOf(schema)
  const inner = innerOf(def)
  const holds =
    def.type === 'array' ||
    def.type === 'record' ||
    (def.type === 'object' && Object.values(def.shape).some(mayHoldList)) ||
    (def.type === 'union' && def.options.some(mayHoldList)) ||
    (inner !== null && mayHoldList(inner))
  holders.set(schema, holds)
  return holds
}

/** The schema inside an optional field or a transformation. */
function innerOf(def: Def): Schema | null {
  if (def.type === 'pipe') return def.in
  return 'innerType' in def ? def.innerType : null
}

const ANYTHING = z.any()
/** Whether a field may be absent was judged with its value. */
const ANYTHING_OR_ABSENT = ANYTHING.optional()
const hollows = new WeakMap<Schema, Schema>()

/** The schema for entries that are already valid. */
function toHollow(schema: Schema): Schema {
  const known = hollows.get(schema)
  if (known) return known
  const made = z.core.clone(schema, toHollowDefinition(defOf(schema)))
  hollows.set(schema, made)
  return made
}

function toHollowDefinition(def: Def): Def {
  switch (def.type) {
    case 'array':
      return { ...def, element: ANYTHING }
    case 'record':
      return { ...def, keyType: z.string(), valueType: ANYTHING }
    case 'union':
      return { ...def, options: [ANYTHING] }
    case 'object': {
      const fields = Object.entries(def.shape)
      const shape = fields.map(([name, field]) => [
        name,
        mayHoldList(field) ? ANYTHING_OR_ABSENT : field,
      ])
      return { ...def, shape: Object.fromEntries(shape) }
    }
    case 'pipe':
      return { ...def, in: ANYTHING }
    default:
      return 'innerType' in def ? { ...def, innerType: ANYTHING } : def
  }
}

function toUnchecked(schema: Schema): Schema {
  return z.core.clone(schema, { ...defOf(schema), checks: [] })
}

/** Every schema that we make is one of zod's own. */
function defOf(schema: Schema): Def {
  return (schema as z.core.$ZodTypes)._zod.def
}
