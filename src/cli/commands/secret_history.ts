/** What environments differ in, and what a secret was before. */
import { showDiff } from '../../features/projects/contract.ts'
import { listVersions, rollBackSecret } from '../../features/secrets/contract.ts'
import { isSamePolicy } from '../../platform/crypto/secret_value.ts'
import type { Policy } from '../../platform/policy.ts'
import type { rollBackOptions } from '../catalogue/options.ts'
import type { Action } from '../command.ts'
import { projectScope } from '../scope.ts'
import { storedSecrets } from '../storing.ts'
import { onSecret } from '../suggestions.ts'
import { CliError } from '../terminal/cli_error.ts'
import { confirmed } from '../terminal/confirmed.ts'

export const diff: Action = async (context, [from = '', to = '']) => {
  const { session, project } = await projectScope(context)
  const compared = await session.api.call(showDiff, {
    params: { project_id: project.id },
    query: { from, to },
  })
  const rows = [
    ...compared.in_from_only.map((key) => ({ key, in: from })),
    ...compared.in_to_only.map((key) => ({ key, in: to })),
    ...compared.in_both.map((key) => ({ key, in: 'both' })),
  ]
  context.output.table(rows, ['key', 'in'], compared)
  return undefined
}

export const history: Action = async (context, [key = '']) => {
  const scope = await projectScope(context)
  const { session, project, environment } = scope
  const params = { project_id: project.id, key }
  const work = session.api.list(listVersions, { params, query: { environment } })
  const versions = await onSecret(scope, key, work)
  context.output.table(versions, [
    'version',
    { field: 'created_by_email', title: 'by' },
    'created_at',
  ])
  return undefined
}

/**
 * Makes an earlier value the newest: its ciphertext binds the place and the policy, not the number. So the
 * policy of then comes back with it; where that is another than today's, people are asked.
 */
export const rollBack: Action<typeof rollBackOptions> = async (
  context,
  [key = '', version = ''],
  options,
) => {
  const scope = await projectScope(context)
  const { session, project, environment } = scope
  const params = { project_id: project.id, key }
  const query = { environment }
  const versions = await onSecret(scope, key, session.api.list(listVersions, { params, query }))
  const earlier = versions.find((candidate) => String(candidate.version) === version)
  if (!earlier)
    throw new CliError(
      'not_found',
      `${key} has no version ${version}`,
      `list them with: cloakroom secrets history ${key}`,
    )
  const policy = (earlier.policy ?? null) as Policy | null
  const present = (await storedSecrets(scope, [key])).get(key)
  const to = JSON.stringify(policy)
  if (present && present.value === null) {
    await confirmed(options, `Today's policy is altered or lost; it becomes ${to}. Go on?`)
  } else if (!isSamePolicy(policy, present?.policy)) {
    const from = JSON.stringify(present?.policy ?? null)
    await confirmed(options, `The policy goes back too, from ${from} to ${to}. Go on?`)
  }
  const body = { version: earlier.version, policy }
  const work = session.api.call(rollBackSecret, { params, query, body })
  const now = await onSecret(scope, key, work)
  context.output.done(`${key} is back to version ${version}, as version ${now.version}.`, {
    key,
    version: now.version,
    restored_version: earlier.version,
  })
  return undefined
}
