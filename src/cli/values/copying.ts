/**
 * Copying between environments and projects of a workspace: each has its own key, so values are opened
 * here and sealed again, each with the policy that it opens with.
 */
import {
  cannotBeCopied,
  changedOf,
  compareEntries,
  readProvenEntries,
} from '../../client/actions/stored_secrets.ts'
import { Fault } from '../../core/fault.ts'
import { isMarked } from '../../core/policy/references.ts'
import type { OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import type { copyingOptions } from '../options.ts'
import { environmentOf, type ProjectScope, projectNamed, projectsOf } from '../scope.ts'
import { absence, demandEnvironment } from '../suggestions.ts'
import { CliError } from '../terminal/cli_error.ts'
import { formatCount } from '../terminal/confirmed.ts'
import { namesOf, showChanges } from './changes.ts'
import { checkReferences } from './reference_faults.ts'
import type { Entry } from './sealing.ts'
import { loadStoredSecrets, store, throwUnproven } from './storing.ts'

type Options = OptionValues<typeof copyingOptions> & { to: string }

export async function copyTo(
  context: Context,
  from: ProjectScope,
  keys: readonly string[] | undefined,
  options: Options,
): Promise<undefined> {
  const to = await targetOf(from, options)
  await demandEnvironment(from)
  const stored = await entriesOf(from, keys)
  const [kept, found] = [
    stored.filter(cannotBeCopied),
    stored.filter((one) => !cannotBeCopied(one)),
  ]
  if (kept.length > 0) {
    const names = kept.map(({ key }) => key).join(', ')
    context.output.warn(`Not copied: ${names}. Connect it there: cloakroom connect NAME`)
  }
  const names = found.map(({ key }) => key)
  const there = await loadStoredSecrets(to, names)
  const entries = found.map((entry) => ({
    ...entry,
    expectedVersion: there.get(entry.key)?.version ?? 0,
  }))
  const compared = compareEntries(there, entries)
  if (options.dryRun) {
    showChanges(context, compared)
    return
  }
  const place = `${to.project.name}/${to.environment}`
  const others = namesOf(compared, 'value', 'policy')
  if (others.length > 0 && !options.force) {
    throw new CliError(
      'name_taken',
      `${place} has a different value or policy for ${others.join(', ')}; nothing was copied`,
      '--force overwrites them, and --dry-run shows all that would change',
    )
  }
  const changed = changedOf(compared)
  const withReferences = changed.filter(({ policy }) => isMarked(policy))
  await checkReferences(context, to, withReferences, { yes: options.yes, coming: entries })
  const { created, updated } = await store(context, to, changed, options)
  const same = namesOf(compared, 'same').length
  const sentence = `${place}: ${formatCount(created, 'secret')} copied, ${updated} overwritten, ${same} already there.`
  context.output.done(sentence, { created, updated, same })
}

/** @throws CliError for the very place that is copied from */
async function targetOf(from: ProjectScope, { to, toProject }: Options): Promise<ProjectScope> {
  const project =
    toProject === undefined ? from.project : projectNamed(from, await projectsOf(from), toProject)
  if (project.id !== from.project.id || to !== from.environment)
    return { ...from, project, environment: to }
  throw new CliError('usage', `${project.name}/${to} cannot be copied to itself`)
}

/** With their verified policies. @throws CliError for missing or unreadable secrets */
async function entriesOf(
  from: ProjectScope,
  keys: readonly string[] | undefined,
): Promise<Entry[]> {
  const entries = await readProvenEntries(environmentOf(from), keys).catch(throwUncopyable)
  const missing = keys?.find((name) => !entries.some(({ key }) => key === name))
  const error = missing === undefined ? null : await absence(from, missing)
  if (error) throw error
  return entries
}

/** @throws CliError in the place of `Unproven`, and of a root with a refresh token */
function throwUncopyable(error: unknown): never {
  if (error instanceof Fault && error.code === 'unusable_secret') {
    const hint = 'Connect it in the other environment: cloakroom connect NAME -e ENVIRONMENT'
    throw new CliError('unusable_root', error.message, hint)
  }
  return throwUnproven(error)
}
