/** References of values (protocol 3.5) where people read and store them: they say which value has some. */
import { readNamed } from '../../client/environment.ts'
import { fitReferenceMark } from '../../client/secrets/final_policy.ts'
import {
  isMarked,
  type Entry as Opened,
  referencesIn,
  resolveReferences,
  UnresolvedReference,
} from '../../core/policy/references.ts'
import type { Context } from '../context.ts'
import type { Values } from '../files/formats.ts'
import { environmentOf, type ProjectScope } from '../scope.ts'
import { CliError } from '../terminal/cli_error.ts'
import { checkReferences } from './reference_faults.ts'
import { type Entry, openListedSecrets } from './sealing.ts'

/** Values as they are stored, or as programs get them. */
export type Form = { raw: boolean | undefined }

/** @throws UnresolvedReference */
export function showValues(
  opened: ReadonlyMap<string, Opened>,
  { raw }: Form,
  names: Iterable<string> = opened.keys(),
): Values {
  const shown = raw ? opened : resolveReferences(opened, names)
  return Object.fromEntries([...shown].map(([name, { value }]) => [name, value]))
}

/**
 * With all that they refer to, from however far: only that is read, and not where the person has a value of
 * their `own`.
 *
 * @throws UnresolvedReference
 */
export async function withReferenced(
  scope: ProjectScope,
  opened: ReadonlyMap<string, Opened>,
  own: ReadonlyMap<string, Opened> = new Map(),
): Promise<Map<string, Opened>> {
  const all = new Map(opened)
  const asked = new Set(opened.keys())
  for (;;) {
    const names = [...all].flatMap(([name, entry]) => referencesOf(name, entry))
    const missing = new Set(names.filter((name) => !asked.has(name)))
    if (missing.size === 0) return all
    for (const name of missing) asked.add(name)
    const mine = [...own].filter(([name]) => missing.delete(name))
    const stored = missing.size > 0 ? await readNamed(environmentOf(scope), missing) : []
    for (const [name, entry] of [...mine, ...openListedSecrets(scope, stored)]) all.set(name, entry)
  }
}

function referencesOf(name: string, { value, policy }: Opened): string[] {
  return isMarked(policy) ? referencesIn(name, value) : []
}

/** A resolved value that was pulled before counts as unchanged: the stored value keeps its references. */
export async function asStored(
  scope: ProjectScope,
  values: Values,
  known: ReadonlyMap<string, Opened>,
): Promise<Values> {
  const suspects = [...known].filter(
    ([name, { value, policy }]) => isMarked(policy) && value !== values[name],
  )
  if (suspects.length === 0) return values
  try {
    const got = showValues(await withReferenced(scope, new Map(suspects)), { raw: false })
    const same = suspects.filter(([name]) => got[name] === values[name])
    return { ...values, ...Object.fromEntries(same.map(([name, { value }]) => [name, value])) }
  } catch (error) {
    if (error instanceof UnresolvedReference) return values
    throw error
  }
}

type Marking = {
  references: boolean | undefined
  /** Whether a reference to a missing name is confirmed. */
  yes: boolean | undefined
  own?: ReadonlyMap<string, Opened>
  known?: ReadonlyMap<string, { value: string }>
}

/**
 * The entries with their final marks: a value that has one keeps it while it holds a reference, others get it
 * with `--references`. For values that are not `known`, prints text that looks like a reference.
 *
 * @throws CliError
 */
export async function markReferences(
  context: Context,
  scope: ProjectScope,
  entries: readonly Entry[],
  { references, yes, own = new Map(), known = new Map() }: Marking,
): Promise<Entry[]> {
  const { output } = context
  const final = entries.map((entry): Entry => {
    const { value, policy } = entry
    if (!value.includes('${')) return fitReferenceMark(entry)
    return references ? { ...entry, policy: { ...policy, references: true } } : entry
  })
  const withMark = final.filter(({ policy }) => isMarked(policy))
  if (references && withMark.length === 0) {
    throw new CliError('usage', 'no value has a reference', "example: URL='http://${HOST}/'")
  }
  const ended = entries.filter(({ policy }, at) => isMarked(policy) && !isMarked(final[at]?.policy))
  if (ended.length > 0) output.warn(`references removed: ${keysOf(ended).join(', ')}`)
  const changed = final.filter(({ key, value }) => known.get(key)?.value !== value)
  await checkReferences(context, scope, changed, { yes, own })
  return final
}

function keysOf(entries: readonly { key: string }[]): string[] {
  return entries.map(({ key }) => key)
}
