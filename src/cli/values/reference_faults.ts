/** References that would not resolve (protocol 3.5), found before a value is stored: circles, and names that are not there. */
import { readNamed, readSecrets } from '../../client/environment.ts'
import {
  isMarked,
  type Entry as Opened,
  referencesIn,
  resolveReferences,
  UnresolvedReference,
} from '../../core/policy/references.ts'
import type { Context } from '../context.ts'
import { environmentOf, type ProjectScope } from '../scope.ts'
import { CliError } from '../terminal/cli_error.ts'
import { confirmOrThrow } from '../terminal/confirmed.ts'
import { type Entry, openListedSecrets } from './sealing.ts'

type Options = {
  yes: boolean | undefined
  /** Entries that are stored together. */
  coming?: readonly { key: string }[]
  /** A person's own values, which stand in for stored ones. */
  own?: ReadonlyMap<string, Opened>
}

/**
 * Refuses circles. Asks before a reference to a missing name is stored. Reports literal text that looks like a
 * reference.
 *
 * @throws CliError
 */
export async function checkReferences(
  { host, output }: Context,
  scope: ProjectScope,
  entries: readonly Entry[],
  { yes, coming = entries, own = new Map() }: Options,
): Promise<void> {
  const named = entries.map((entry) => ({ ...entry, names: namesIn(entry) }))
  if (named.every(({ names }) => names.length === 0)) return
  const { project, environment } = scope
  const listed = await readSecrets(environmentOf(scope))
  const known = new Set([...keysOf(listed), ...keysOf(coming), ...own.keys()])
  const dangling: string[] = []
  for (const { key, policy, names } of named) {
    const [text] = names.filter((name) => known.has(name))
    const missing = names.filter((name) => !known.has(name))
    if (isMarked(policy) && missing.length > 0) {
      const which = [...new Set(missing)].join(', ')
      dangling.push(`${key} refers to ${which}, not in ${project.name}/${environment}`)
    }
    if (!isMarked(policy) && text !== undefined)
      output.warn(`${key}: \${${text}} is literal text (pass --references to resolve it)`)
  }
  await refuseCircles(scope, entries, listed, own)
  if (dangling.length === 0) return
  if (yes) return output.warn(...dangling)
  await confirmOrThrow(
    host,
    false,
    `${dangling.join('; ')}. Store it?`,
    new CliError(
      'unresolved_reference',
      [...dangling, 'nothing was stored'],
      'store the referenced secrets first, or confirm with --yes',
    ),
  )
}

type Graph = Map<string, Opened>
type Listed = Awaited<ReturnType<typeof readSecrets>>

/** @throws CliError with the path of each circle */
async function refuseCircles(
  scope: ProjectScope,
  entries: readonly Entry[],
  listed: Listed,
  own: ReadonlyMap<string, Opened>,
): Promise<void> {
  const marked = keysOf(entries.filter(({ policy }) => isMarked(policy)))
  const graph: Graph = new Map(
    entries.map(({ key, value, policy }) => [key, { value, policy: policy ?? null }]),
  )
  try {
    for (let names = marked; names.length > 0; ) {
      const next = names.flatMap((name) => referencesOf(name, graph.get(name)))
      names = [...new Set(next)].filter((name) => !graph.has(name))
      await addReferenced(scope, graph, names, { listed, own })
    }
    resolveReferences(graph, marked)
  } catch (error) {
    if (!(error instanceof UnresolvedReference)) throw error
    throw new CliError(
      'unresolved_reference',
      [...error.reasons, 'nothing was stored'],
      'show the references with: cloakroom secrets get NAME --raw',
    )
  }
}

/** Reads only stored values with references: others end a path. */
async function addReferenced(
  scope: ProjectScope,
  graph: Graph,
  names: readonly string[],
  { listed, own }: { listed: Listed; own: ReadonlyMap<string, Opened> },
): Promise<void> {
  const policies = new Map(listed.map(({ key, policy }) => [key, policy ?? null]))
  for (const name of names)
    graph.set(name, own.get(name) ?? { value: '', policy: policies.get(name) ?? null })
  const further = names.filter((name) => !own.has(name) && isMarked(policies.get(name)))
  if (further.length === 0) return
  const stored = await readNamed(environmentOf(scope), new Set(further))
  for (const [name, entry] of openListedSecrets(scope, stored)) graph.set(name, entry)
}

function referencesOf(name: string, entry: Opened | undefined): string[] {
  return entry && isMarked(entry.policy) ? referencesIn(name, entry.value) : []
}

/** Text that cannot be a reference has no faults. @throws CliError for a marked value that is malformed */
function namesIn({ key, value, policy }: Entry): string[] {
  try {
    return referencesIn(key, value)
  } catch (error) {
    if (!(error instanceof UnresolvedReference)) throw error
    if (!isMarked(policy)) return []
    throw new CliError('usage', error.message, 'nothing was stored')
  }
}

function keysOf(entries: readonly { key: string }[]): string[] {
  return entries.map(({ key }) => key)
}
