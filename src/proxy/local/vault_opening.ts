/** Opening the values of an environment with the workspace's key, each under the key that its policy chooses. */
import type { Place } from '../../client/signed/statements.ts'
import { valueKey } from '../../client/vault.ts'
import type { OpenWorkspace } from '../../client/workspace.ts'
import { openSecretValue, type SealedSecret } from '../../core/crypto/secret_value.ts'
import { commandFix, Fault } from '../../core/fault.ts'
import { isHeld, type Policy } from '../../core/policy/policy.ts'
import { Secret } from '../../core/secret.ts'
import type { Open } from './opened_values.ts'

/** A policy whose values are under the held key. */
const HELD: Policy = { approval: { by: 'member', ttl_seconds: 0 } }

/** The keys are derived once for all values. */
export function openWith(workspace: OpenWorkspace, place: Place): Open {
  const keys = new Map(
    [null, HELD].map((policy) => [isHeld(policy), new Secret(valueKey(workspace, place, policy))]),
  )
  return (entry) => {
    const { policy, ciphertext } = entry
    const key = keys.get(isHeld(policy))
    const secret = key && ciphertext && openSecretValue(key.reveal(), entry, policy, ciphertext)
    if (secret) return secret
    throw new Fault('unreadable_secret', {
      message: `The secret ${entry.key} cannot be decrypted. It was altered or sealed with another key.`,
    })
  }
}

/** @throws Fault `approval_required`, since this proxy cannot ask members */
export function refuseHeld({ key, policy }: SealedSecret): void {
  if (!isHeld(policy)) return
  throw new Fault('approval_required', {
    message: `Each use of ${key} needs an approval, which only the resolver can request. Start the proxy with --remote.`,
    fix: commandFix('proxy', '--remote'),
  })
}
