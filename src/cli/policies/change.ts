/** Changes the policy of a stored secret without typing its value: decrypts and re-encrypts it on this machine. */
import { type ProvenValue, readProvenValue } from '../../client/actions/stored_secrets.ts'
import { policyInWords } from '../../client/secrets/policy_in_words.ts'
import { isSamePolicy } from '../../core/crypto/secret_value.ts'
import type { Policy } from '../../core/policy/policy.ts'
import type { Context } from '../context.ts'
import { environmentOf, type ProjectScope, projectScope } from '../scope.ts'
import { onSecret } from '../suggestions.ts'
import { upload } from '../values/sealing.ts'
import { throwUnproven } from '../values/storing.ts'
import { adviseReplacing } from './approval.ts'

/** A policy that cannot decrypt the ciphertext is not authentic. @throws CliError */
export function readProvenSecret(scope: ProjectScope, key: string): Promise<ProvenValue> {
  return onSecret(scope, key, readProvenValue(environmentOf(scope), key).catch(throwUnproven))
}

/** Stores the same value under another policy, as a new version. */
export async function change(
  context: Context,
  key: string,
  policyFor: (stored: ProvenValue, scope: ProjectScope) => Promise<Policy | null>,
): Promise<undefined> {
  const scope = await projectScope(context)
  const stored = await readProvenSecret(scope, key)
  const policy = await policyFor(stored, scope)
  const here = `${scope.project.name}/${scope.environment}: ${key}`
  const words = policyInWords(policy) || 'no restrictions'
  if (isSamePolicy(policy, stored.policy)) {
    const data = { key, version: stored.version, policy, changed: false }
    context.output.done(`${here} already has this policy: ${words}.`, data)
    return
  }
  const { value, version: expectedVersion } = stored
  const work = upload(scope, [{ key, value, policy, expectedVersion }], false)
  await context.output.during('encrypting and uploading', work)
  adviseReplacing(context, scope, [{ key, value, policy }], new Map([[key, stored]]))
  const version = expectedVersion + 1
  context.output.done(`${here}: ${words}.`, { key, version, policy, changed: true })
}
