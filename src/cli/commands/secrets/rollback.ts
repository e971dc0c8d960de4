import { rollBackTo } from '../../../client/actions/stored_secrets.ts'
import { isSamePolicy } from '../../../core/crypto/secret_value.ts'
import type { Policy } from '../../../core/policy/policy.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { environmentOf, projectScope } from '../../scope.ts'
import { onSecret } from '../../suggestions.ts'
import { requireConfirmation } from '../../terminal/confirmed.ts'
import { openStored } from '../../values/sealing.ts'
import { buildUnprovenError, loadStoredSecrets, throwUnproven } from '../../values/storing.ts'
import { versionOf } from '../../values/versions.ts'

/**
 * Makes an earlier value the newest: its ciphertext binds the place and the policy, not the number. So its old policy
 * is restored too, verified by decryption. If it differs from the current one, the command asks.
 */
export default command({
  usage: 'rollback <key> <version>',
  examples: ['secrets rollback STRIPE_KEY 2', 'secrets rollback STRIPE_KEY 2 --yes'],
  options: [yes],
  action: async (context, [key, version], options) => {
    const scope = await projectScope(context)
    const earlier = await versionOf(scope, key, version)
    if (openStored(scope, earlier) === null)
      throw buildUnprovenError([`${key}, version ${version}`])
    const policy = (earlier.policy ?? null) as Policy | null
    const present = (await loadStoredSecrets(scope, [key])).get(key)
    const to = JSON.stringify(policy)
    if (present && present.value === null) {
      await requireConfirmation(
        context.host,
        options,
        `The current policy is altered or lost; it becomes ${to}. Continue?`,
      )
    } else if (!isSamePolicy(policy, present?.policy)) {
      const from = JSON.stringify(present?.policy ?? null)
      await requireConfirmation(
        context.host,
        options,
        `This also changes the policy from ${from} to ${to}. Continue?`,
      )
    }
    const by = earlier.created_by_email ?? 'a former member'
    context.output.note(`${key}: version ${version}, stored ${earlier.created_at} by ${by}`)
    const work = rollBackTo(environmentOf(scope), earlier).catch(throwUnproven)
    const now = await onSecret(scope, key, work)
    context.output.done(`${key} is back to version ${version}, as version ${now.version}.`, {
      key,
      version: now.version,
      restored_version: earlier.version,
    })
  },
})
