/** Earlier versions of a secret, with their ciphertexts. */
import { listVersions } from '../../features/secrets/contract.ts'
import type { ProjectScope } from '../scope.ts'
import { onSecret } from '../suggestions.ts'
import { CliError } from '../terminal/cli_error.ts'

/** By the number that `secrets history` shows. @throws CliError */
export async function versionOf(scope: ProjectScope, key: string, version: string) {
  const { session, project, environment } = scope
  const params = { project_id: project.id, key }
  const query = { environment, include: 'value' as const }
  const versions = await onSecret(scope, key, session.api.list(listVersions, { params, query }))
  const earlier = versions.find((candidate) => String(candidate.version) === version)
  if (earlier) return { key, ...earlier }
  throw new CliError(
    'not_found',
    `${key} has no version ${version}`,
    `list them with: cloakroom secrets history ${key}`,
  )
}
