/** Messages and options about which values are stored as secrets and which as settings. */
import { type Candidate, policyFor, type Sensitivity } from '../../client/secrets/final_policy.ts'
import { isSensitive } from '../../core/policy/policy.ts'
import type { OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import type { sensitivityOptions } from '../options.ts'
import { CliError } from '../terminal/cli_error.ts'
import type { Entry } from './sealing.ts'

export function choiceOf({
  sensitive,
  plain,
}: OptionValues<typeof sensitivityOptions>): Sensitivity {
  if (sensitive && plain) throw new CliError('usage', '--sensitive and --plain exclude each other')
  if (sensitive) return 'sensitive'
  return plain ? 'plain' : 'by value'
}

/**
 * The entries with their final policies. Reports secrets that became settings, or the reverse, because of their value.
 */
export function classifyEntries(
  { output }: Context,
  candidates: readonly Candidate[],
  choice: Sensitivity,
): Entry[] {
  const [settings, secrets]: [string[], string[]] = [[], []]
  const entries = candidates.map((candidate): Entry => {
    const { key, value, expectedVersion } = candidate
    const policy = policyFor(candidate, choice)
    if (choice === 'by value' && isSensitive(policy) !== isSensitive(candidate.policy)) {
      if (isSensitive(policy)) secrets.push(key)
      else settings.push(key)
    }
    return { key, value, policy, expectedVersion }
  })
  if (settings.length > 0) {
    output.warn(`as settings, not masked: ${formatList(settings)} (--sensitive stores secrets)`)
  }
  if (secrets.length > 0) {
    output.warn(
      `no longer settings, masked from now on: ${formatList(secrets)} (--plain keeps settings)`,
    )
  }
  return entries
}

const MAX_LISTED = 10

function formatList(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).join(', ')
  return names.length > MAX_LISTED ? `${shown} and ${names.length - MAX_LISTED} more` : shown
}
