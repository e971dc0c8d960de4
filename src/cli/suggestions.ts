/** Hints for a secret or an environment that is not there: names, never values. */
import { ApiError } from '../client/api.ts'
import { showCoverage } from '../features/projects/contract.ts'
import { EX_NOT_FOUND } from '../platform/exit_codes.ts'
import type { ProjectScope } from './scope.ts'
import { CliError } from './terminal/cli_error.ts'

/** Letters that a mistyped name may differ in. */
const MAX_EDITS = 2
/** Names that fit a line. */
const MAX_NAMES = 5

/**
 * Where the project has secrets although it has none in the chosen environment, as a sentence; `null` where
 * there is nothing to say: there are some, or none anywhere.
 */
export async function onlyElsewhere(scope: ProjectScope): Promise<string | null> {
  const counts = countsOf(await coverageOf(scope))
  if (counts.size === 0 || counts.has(scope.environment)) return null
  const known = [...counts].map(([name, count]) => `${name} (${count})`)
  return `${scope.project.name} has no secrets in ${scope.environment}; it has some in ${known.join(', ')}`
}

/**
 * A mistyped environment must not empty a file, nor start a program without its credentials. What is empty
 * on purpose is told by --allow-empty; a project without any secrets needs no word.
 *
 * @throws CliError where only other environments have secrets
 */
export async function refuseEmpty(
  scope: ProjectScope,
  { allowEmpty }: { allowEmpty: boolean | undefined },
): Promise<void> {
  const elsewhere = allowEmpty ? null : await onlyElsewhere(scope)
  if (elsewhere === null) return
  throw new CliError(
    EX_NOT_FOUND,
    elsewhere,
    'choose one with -e; --allow-empty goes on without any',
  )
}

/** Does the work on one secret; where the server knows no such secret, the error says more than that. */
export async function onSecret<T>(scope: ProjectScope, key: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    const names = await coverageOf(scope)
    const here = `${scope.project.name}/${scope.environment}`
    // Then it is something else that is missing, such as a version.
    if (names.some((name) => name.key === key && name.environments[scope.environment])) throw error
    const hint = hintFor(scope, key, names)
    throw new CliError(EX_NOT_FOUND, `there is no secret ${key} in ${here}`, hint)
  }
}

type Coverage = Awaited<ReturnType<typeof coverageOf>>

async function coverageOf({ session, project }: ProjectScope) {
  const { keys } = await session.api.call(showCoverage, { params: { project_id: project.id } })
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
  const near = here.map((name) => name.key).filter((name) => isNear(name, key))
  if (near.length > 0) return `is it ${near.slice(0, MAX_NAMES).join(', ')}?`
  const known = [...countsOf(names).keys()]
  if (here.length > 0 || known.length === 0) return 'list the names with: cloakroom secrets list'
  return `there are no secrets in ${environment}; there are some in ${known.join(', ')}`
}

function isNear(name: string, typed: string): boolean {
  const [one, other] = [name.toUpperCase(), typed.toUpperCase()]
  if (one.includes(other) || (one.length > MAX_EDITS && other.includes(one))) return true
  return editsBetween(one, other) <= Math.min(MAX_EDITS, Math.floor(other.length / 2))
}

/** Insertions, deletions and replacements that make one of the other (Levenshtein). */
function editsBetween(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [row, letter] of [...one].entries()) {
    const line = [row + 1]
    for (const [column, against] of [...other].entries()) {
      const replaced = (above[column] ?? 0) + (letter === against ? 0 : 1)
      line.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (line[column] ?? 0) + 1))
    }
    above = line
  }
  return above[other.length] ?? 0
}
