/**
 * Storing values for people: existing policies are kept unless another one is passed, and a mistyped name does not
 * create an environment.
 */

import {
  deleteStored,
  readProvenValues,
  readStoredValues,
  Unproven,
} from '../../client/actions/stored_secrets.ts'
import { ApiError } from '../../client/http/api.ts'
import { listDeletedSecrets } from '../../features/secrets/contract.ts'
import { USUAL_ENVIRONMENTS } from '../arguments.ts'
import type { Context } from '../context.ts'
import { findNearNames } from '../named.ts'
import { environmentOf, type ProjectScope } from '../scope.ts'
import { environmentsOf, onSecret, suggestEnvironments } from '../suggestions.ts'
import { CliError } from '../terminal/cli_error.ts'
import { requireConfirmation } from '../terminal/confirmed.ts'
import { type Entry, upload } from './sealing.ts'

const USUAL = new Set<string>(USUAL_ENVIRONMENTS)

/**
 * Asks before the first value goes into an environment of an unusual name. Without a terminal, a name near to another
 * environment's is refused: a script's typing mistake must not create one.
 */
export async function store(
  context: Context,
  scope: ProjectScope,
  entries: readonly Entry[],
  options: { yes: boolean | undefined },
) {
  const { environment, project } = scope
  const isUsual = USUAL.has(environment)
  const isAsked = !options.yes && context.host.streams.stdin.isTTY === true
  const isChecked = !isUsual && !options.yes
  const send = (mayCreate: boolean) =>
    context.output.during('encrypting and uploading', upload(scope, entries, mayCreate))
  const counts = await send(!isChecked).catch(async (error) => {
    if (!isChecked || !(error instanceof ApiError) || error.status !== 404) throw error
    await confirmNewEnvironment(context, scope, options)
    return send(true)
  })
  if (counts.isNewEnvironment && !isUsual && !isAsked) {
    context.output.warn(`${environment} is a new environment of ${project.name}`)
  }
  return counts
}

/** @throws CliError without a confirmation */
async function confirmNewEnvironment(
  { host }: Context,
  scope: ProjectScope,
  options: { yes: boolean | undefined },
): Promise<void> {
  const { environment, project } = scope
  if (host.streams.stdin.isTTY === true) {
    const elsewhere = await suggestEnvironments(scope)
    if (elsewhere === null) return
    return requireConfirmation(host, options, `${elsewhere}. Create ${environment}?`)
  }
  const known = await environmentsOf(scope)
  const [near] = findNearNames(environment, known)
  // Another machine may have made it meanwhile.
  if (near === undefined || known.includes(environment)) return
  throw new CliError(
    'not_found',
    `${project.name} has no environment ${environment}; nothing was stored`,
    `did you mean ${near}? If not, run: cloakroom env create ${environment} (or pass --yes)`,
  )
}

/** @throws CliError for one that is not there */
export async function deleteSecrets(scope: ProjectScope, keys: readonly string[]): Promise<void> {
  for (const key of keys) await onSecret(scope, key, deleteStored(environmentOf(scope), key))
}

export function reportStored(
  { output }: Context,
  { project, environment }: ProjectScope,
  { created, updated, deleted }: { created: number; updated: number; deleted?: number },
  undelete?: string,
): void {
  const done = [`${created} created`, `${updated} updated`]
  if (deleted !== undefined) done.push(`${deleted} deleted`)
  const end = undelete === undefined ? '.' : `; for 7 days: ${undelete}`
  output.done(`${project.name}/${environment}: ${done.join(', ')}${end}`, {
    created,
    updated,
    deleted,
  })
}

/** The stored secrets with these names, by name. */
export function loadStoredSecrets(scope: ProjectScope, names: readonly string[]) {
  return readStoredValues(environmentOf(scope), names)
}

/** Like above, for writing. @throws CliError `unproven_policy` */
export function readProvenSecrets(scope: ProjectScope, names: readonly string[]) {
  return readProvenValues(environmentOf(scope), names).catch(throwUnproven)
}

/** Translates an `Unproven` error for people. @throws CliError */
export function throwUnproven(error: unknown): never {
  throw error instanceof Unproven ? buildUnprovenError(error.names) : error
}

/** The error for secrets that do not open with the policy beside them. */
export function buildUnprovenError(names: readonly string[]): CliError {
  return new CliError(
    'unproven_policy',
    new Unproven(names).message,
    "the policy or value was altered: set the policy with cloakroom secrets set NAME --policy '{…}', or --policy null",
  )
}

/** The command that brings them back. */
export function undeleteOf(keys: readonly string[], environment: string): string {
  return `cloakroom secrets undelete ${keys.join(' ')} -e ${environment}`
}

export function deletedOf({ session, project, environment }: ProjectScope) {
  const params = { project_id: project.id }
  return session.api.list(listDeletedSecrets, { params, query: { environment } })
}
