/**
 * What is stored as a secret and what as a setting, which is neither masked nor guarded. New names with
 * values that are settings beyond doubt become settings; what is there stays what it is, unless its new value
 * may be a secret. The policy carries it, so that the ciphertext is bound to it.
 */
import { isObviousSetting } from '../../client/obvious_setting.ts'
import { isSensitive, type Policy } from '../../platform/policy.ts'
import type { sensitivityOptions } from '../catalogue/options.ts'
import type { OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError } from '../terminal/cli_error.ts'
import type { Entry } from './sealing.ts'

export type Choice = 'sensitive' | 'plain' | 'by value'

/**
 * A value with the policy that it would have otherwise: none where nothing of its name is stored, the one
 * that is stored, or one that this person decided about.
 */
export type Candidate = Entry & { policyIs: 'new' | 'stored' | 'decided' }

export function choiceOf({ sensitive, plain }: OptionValues<typeof sensitivityOptions>): Choice {
  if (sensitive && plain) throw new CliError('usage', '--sensitive and --plain exclude each other')
  if (sensitive) return 'sensitive'
  return plain ? 'plain' : 'by value'
}

/** The entries with their final policies; says what became a setting, or ceased to be one, by the value alone. */
export function classified(
  { output }: Context,
  candidates: readonly Candidate[],
  choice: Choice,
): Entry[] {
  const [settings, secrets]: [string[], string[]] = [[], []]
  const entries = candidates.map((candidate): Entry => {
    const { key, value, expectedVersion } = candidate
    const policy = policyOf(candidate, choice)
    if (choice === 'by value' && isSensitive(policy) !== isSensitive(candidate.policy)) {
      if (isSensitive(policy)) secrets.push(key)
      else settings.push(key)
    }
    return { key, value, policy, expectedVersion }
  })
  if (settings.length > 0) {
    output.warn(`as settings, not masked: ${listed(settings)} (--sensitive stores secrets)`)
  }
  if (secrets.length > 0) {
    output.warn(
      `no longer settings, masked from now on: ${listed(secrets)} (--plain keeps settings)`,
    )
  }
  return entries
}

function policyOf({ key, value, policy, policyIs }: Candidate, choice: Choice): Entry['policy'] {
  if (choice === 'plain') return { ...policy, sensitive: false }
  if (choice === 'sensitive') return asSecret(policy)
  if (policyIs === 'decided') return policy
  if (isObviousSetting(key, value)) return policyIs === 'new' ? { sensitive: false } : policy
  return asSecret(policy)
}

function asSecret(policy: Entry['policy']): Entry['policy'] {
  return isSensitive(policy) ? policy : withoutField(policy, 'sensitive')
}

/** A policy that was there, without one of its fields. */
export function withoutField(policy: Entry['policy'], field: keyof Policy): Policy | null {
  const { [field]: _, ...others }: Policy = policy ?? {}
  // Sent as null, which takes the policy away: what is not sent would be refused.
  return Object.keys(others).length > 0 ? others : null
}

const MAX_LISTED = 10

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).join(', ')
  return names.length > MAX_LISTED ? `${shown} and ${names.length - MAX_LISTED} more` : shown
}
