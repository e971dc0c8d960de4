/** Why a policy refuses a call. */
import type { PolicyRule } from '../fault.ts'
import type { Policy } from './policy.ts'

/** The sentence continues after "the policy". */
export type Objection = { rule: PolicyRule; text: string }

/** The most entries of a list that a caller receives. Callers see policies anyway (protocol 6.7). */
const MAX_LISTED = 10

/** Returns an objection to an item outside of the list in a policy's field. */
export function objectNotPermitted(
  what: string,
  rule: PolicyRule & keyof Policy,
  permitted: readonly string[],
): Objection {
  const listed = permitted.slice(0, MAX_LISTED).join(', ') || 'none'
  const more = permitted.length > MAX_LISTED ? ', …' : ''
  return { rule, text: `does not permit this ${what} (${rule}: ${listed}${more})` }
}
