/** Earlier versions of a secret, with their ciphertexts. */
import { versionsOf } from '../../client/actions/stored_secrets.ts'
import { environmentOf, type ProjectScope } from '../scope.ts'
import { onSecret } from '../suggestions.ts'
import { CliError } from '../terminal/cli_error.ts'

/** By the number that `secrets history` shows. @throws CliError */
export async function versionOf(scope: ProjectScope, key: string, version: string) {
  const versions = await onSecret(scope, key, versionsOf(environmentOf(scope), key))
  const earlier = versions.find((candidate) => String(candidate.version) === version)
  if (earlier) return { key, ...earlier }
  throw new CliError(
    'not_found',
    `${key} has no version ${version}`,
    `list them with: cloakroom secrets history ${key}`,
  )
}
