/** Hints for a secret or an environment that is not there: names, never values. */
import { ApiError, type CallResult } from '../client/http/api.ts'
import { listEnvironments, showCoverage } from '../features/projects/contract.ts'
import type { Context } from './context.ts'
import { buildNotFoundError, findNearNames } from './named.ts'
import { type ProjectScope, projectScope } from './scope.ts'
import { CliError } from './terminal/cli_error.ts'

/** A sentence about the environments with secrets if the selected one has none; otherwise `null`. */
export async function suggestEnvironments(scope: ProjectScope): Promise<string | null> {
  const counts = countsOf(await coverageOf(scope))
  if (counts.size === 0 || counts.has(scope.environment)) return null
  const known = [...counts].map(([name, count]) => `${name} (${count})`)
  const here = `${scope.environment}${suggestMeant(scope.environment, [...counts.keys()])}`
  return `${scope.project.name} has no secrets in ${here}; it has some in ${known.join(', ')}`
}

/** The environment that a mistyped one is near to. */
function suggestMeant(typed: string, known: readonly string[]): string {
  const [near] = findNearNames(typed, known)
  return near === undefined ? '' : ` (is it ${near}?)`
}

/**
 * A mistyped environment must not empty a file, nor start a program without its credentials. Pass --allow-empty to
 * allow it. A project without any secrets needs no hint. @throws CliError if only other environments have secrets
 */
export async function refuseEmpty(
  scope: ProjectScope,
  { allowEmpty }: { allowEmpty: boolean | undefined },
): Promise<void> {
  const elsewhere = allowEmpty ? null : await suggestEnvironments(scope)
  if (elsewhere === null) return
  throw new CliError(
    'empty_environment',
    elsewhere,
    'choose one with -e, or continue without secrets with --allow-empty',
  )
}

/** Runs work on one secret, and adds hints to the error for an unknown one. */
export async function onSecret<T>(scope: ProjectScope, key: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    throw (await absence(scope, key)) ?? error
  }
}

/** Checks that all secrets exist before they are changed. @throws CliError that names the missing ones */
export async function demandSecrets(scope: ProjectScope, keys: readonly string[]): Promise<void> {
  const names = await coverageOf(scope)
  const missing = keys.filter((key) => !isIn(scope, key, names))
  const [first, another] = missing
  if (first === undefined) return
  if (another === undefined) throw buildAbsentError(scope, first, names)
  const here = `${scope.project.name}/${scope.environment}`
  const hint = 'list the names with: cloakroom secrets list'
  throw new CliError('not_found', `there are no secrets ${missing.join(', ')} in ${here}`, hint)
}

/** The error for a missing secret; `null` if it exists. */
export async function absence(
  scope: ProjectScope,
  ...keys: readonly string[]
): Promise<CliError | null> {
  const names = await coverageOf(scope)
  const missing = keys.find((key) => !isIn(scope, key, names))
  return missing === undefined ? null : buildAbsentError(scope, missing, names)
}

function isIn({ environment }: ProjectScope, key: string, names: Coverage): boolean {
  return names.some((name) => name.key === key && name.environments[environment])
}

function buildAbsentError(scope: ProjectScope, key: string, names: Coverage): CliError {
  const here = `${scope.project.name}/${scope.environment}`
  const hint = hintFor(scope, key, names)
  return new CliError('not_found', `there is no secret ${key} in ${here}`, hint)
}

/** `otherwise` is how to go on with a name that is not there. @throws CliError where the project has no such environment */
export async function demandEnvironment(scope: ProjectScope, otherwise?: string) {
  const { project, environment } = scope
  const known = await environmentsOf(scope)
  if (known.includes(environment)) return
  const where = `in ${project.name}`
  throw buildNotFoundError(environment, known, {
    what: 'environment',
    where,
    list: 'env list',
    otherwise,
  })
}

/** Names of the project's environments. */
export async function environmentsOf({ session, project }: ProjectScope): Promise<string[]> {
  const params = { project_id: project.id }
  const { environments } = await session.api.call(listEnvironments, { params })
  return Object.keys(environments)
}

/** The environment of a new token: a token for a mistyped one would find nothing. @throws CliError */
export async function tokenScope(context: Context): Promise<ProjectScope> {
  const scope = await projectScope(context)
  await demandEnvironment(scope)
  return scope
}

type Coverage = Awaited<ReturnType<typeof coverageOf>>

async function coverageOf({ session, project }: ProjectScope) {
  const keys: CallResult<typeof showCoverage>['keys'] = []
  let cursor: string | undefined
  do {
    const query = { limit: 500, ...(cursor === undefined ? {} : { cursor }) }
    const input = { params: { project_id: project.id }, query }
    const { data, next } = await session.api.page(showCoverage, input)
    keys.push(...data.keys)
    cursor = next ?? undefined
  } while (cursor !== undefined)
  return keys
}

function countsOf(names: Coverage): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { environments } of names)
    for (const [environment, isThere] of Object.entries(environments))
      if (isThere) counts.set(environment, (counts.get(environment) ?? 0) + 1)
  return counts
}

function hintFor({ environment }: ProjectScope, key: string, names: Coverage): string {
  const same = names.find((name) => name.key === key)
  const elsewhere = Object.entries(same?.environments ?? {}).flatMap(([name, isThere]) =>
    isThere ? [name] : [],
  )
  if (elsewhere.length > 0) return `it is in ${elsewhere.join(', ')}: choose one with -e`
  const here = names.filter(({ environments }) => environments[environment])
  const near = findNearNames(
    key,
    here.map((name) => name.key),
  )
  if (near.length > 0) return `is it ${near.join(', ')}?`
  const known = [...countsOf(names).keys()]
  if (here.length > 0 || known.length === 0) return 'list the names with: cloakroom secrets list'
  return `there are no secrets in ${environment}${suggestMeant(environment, known)}; there are some in ${known.join(', ')}`
}
