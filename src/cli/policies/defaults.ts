/**
 * The policy that the project file gives to new secrets. That file is untrusted, so it can only restrict the use of
 * values. It cannot allow more places or turn secrets into settings.
 */

import { policyInWords } from '../../client/secrets/policy_in_words.ts'
import { type Policy, policy as policySchema, USUAL_LOCATIONS } from '../../core/policy/policy.ts'
import type { Context } from '../context.ts'
import { findProjectFile, PROJECT_FILE, readDefaultPolicy } from '../settings.ts'
import { CliError } from '../terminal/cli_error.ts'
import type { Entry } from '../values/sealing.ts'

const NARROWING = [
  'allowed_domains',
  'allowed_methods',
  'allowed_paths',
  'allowed_headers',
  'allowed_operations',
  'read_only',
]

/** New secrets without a policy get it, which is printed. Settings and existing secrets do not. */
export function withDefaults(context: Context, entries: readonly Entry[]): readonly Entry[] {
  const added = entries.filter(
    ({ policy, expectedVersion }) => policy === undefined && expectedVersion === 0,
  )
  const policy = added.length > 0 ? readProjectDefault(context) : null
  if (policy === null) return entries
  const names = added.map(({ key }) => key).join(', ')
  context.output.warn(`by ${PROJECT_FILE}: ${names} ${policyInWords(policy)}`)
  return entries.map((entry) => (added.includes(entry) ? { ...entry, policy } : entry))
}

/** The default policy, only for the project in the file. @throws CliError */
function readProjectDefault({ settings, cwd }: Context): Policy | null {
  const path = settings.project?.origin === 'project file' ? findProjectFile(cwd) : null
  const said = path === null ? undefined : readDefaultPolicy(path)
  if (said === undefined) return null
  const { success, data } = policySchema.safeParse(said)
  if (success && data !== null && isNarrowingOnly(data)) return data
  throw new CliError(
    'invalid_file',
    `the policy in ${path} is invalid or not only restrictive; nothing was stored`,
    `allowed fields: ${NARROWING.join(', ')}, and allowed_locations of ${USUAL_LOCATIONS.join(', ')}`,
  )
}

function isNarrowingOnly({ allowed_locations: places = [], ...others }: Policy): boolean {
  return (
    Object.keys(others).every((field) => NARROWING.includes(field)) &&
    places.every((place) => USUAL_LOCATIONS.includes(place))
  )
}
