/**
 * Storing values for people: policies of what is there stay unless another is given, and an environment
 * does not come into being because its name was mistyped.
 */
import { ApiError } from '../../client/http/api.ts'
import { deleteStored, provenValues, storedValues, Unproven } from '../../client/secrets/stored.ts'
import type { confirmOptions } from '../catalogue/options.ts'
import type { OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import { environmentOf, type ProjectScope } from '../scope.ts'
import { onlyElsewhere, onSecret } from '../suggestions.ts'
import { CliError } from '../terminal/cli_error.ts'
import { confirmed } from '../terminal/confirmed.ts'
import { type Entry, upload } from './sealing.ts'

/** Environments that every project is shown with. */
const USUAL = new Set(['development', 'staging', 'production'])

/** Asks before the first value goes into an environment of an unusual name, where there is someone to ask. */
export async function store(
  context: Context,
  scope: ProjectScope,
  entries: readonly Entry[],
  options: OptionValues<typeof confirmOptions>,
) {
  const { environment, project } = scope
  const isUsual = USUAL.has(environment)
  const asks = !isUsual && !options.yes && context.host.streams.stdin.isTTY === true
  const send = (mayCreate: boolean) =>
    context.output.during('encrypting and uploading', upload(scope, entries, mayCreate))
  const counts = await send(!asks).catch(async (error) => {
    if (!asks || !(error instanceof ApiError) || error.status !== 404) throw error
    const elsewhere = await onlyElsewhere(scope)
    if (elsewhere !== null)
      await confirmed(context.host, options, `${elsewhere}. Make ${environment}?`)
    return send(true)
  })
  if (counts.isNewEnvironment && !isUsual && !asks) {
    context.output.warn(`${environment} is a new environment of ${project.name}`)
  }
  return counts
}

/** @throws CliError for one that is not there */
export async function deleteSecrets(scope: ProjectScope, keys: readonly string[]): Promise<void> {
  for (const key of keys) await onSecret(scope, key, deleteStored(environmentOf(scope), key))
}

export function reportStored(
  { output }: Context,
  { project, environment }: ProjectScope,
  { created, updated, deleted }: { created: number; updated: number; deleted?: number },
): void {
  const done = [`${created} created`, `${updated} updated`]
  if (deleted !== undefined) done.push(`${deleted} deleted`)
  output.done(`${project.name}/${environment}: ${done.join(', ')}.`, { created, updated, deleted })
}

/** Of these names those that are stored in the environment, by name. */
export function storedSecrets(scope: ProjectScope, names: readonly string[]) {
  return storedValues(environmentOf(scope), names)
}

/** The same for who writes. @throws CliError `unproven_policy` */
export function provenSecrets(scope: ProjectScope, names: readonly string[]) {
  return provenValues(environmentOf(scope), names).catch(throwUnproven)
}

/** As people are told. @throws CliError in the place of an `Unproven` */
export function throwUnproven(error: unknown): never {
  throw error instanceof Unproven ? unproven(error.names) : error
}

/** The error for secrets that do not open with the policy beside them. */
export function unproven(names: readonly string[]): CliError {
  return new CliError(
    'unproven_policy',
    new Unproven(names).message,
    "policy or value were altered: say which policy it is to have, with cloakroom secrets set NAME --policy '{…}', or --policy null",
  )
}
