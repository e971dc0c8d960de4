/** Step 6: the policy of each secret. It narrows where its value may go, and never widens. */
import { Fault } from '../../core/fault.ts'
import type { Policy } from '../../core/policy/policy.ts'
import { type JudgedRequest, objectionTo } from '../../core/policy/policy_check.ts'
import type { Placeholder } from '../injection/placeholders.ts'
import type { Target } from '../target.ts'

/** What is asked of the upstream. */
export type AskedRequest = JudgedRequest & { target: Target }

/** @throws Fault `policy_blocked` */
export function checkPolicies(
  secrets: ReadonlyMap<string, { policy: Policy | null }>,
  placeholders: readonly Placeholder[],
  asked: AskedRequest,
): void {
  for (const placeholder of placeholders) {
    const { name } = placeholder
    const objection = objectionTo(secrets.get(name)?.policy ?? {}, placeholder, asked)
    if (objection !== null) {
      throw new Fault('policy_blocked', {
        message: `The policy of the secret ${name} ${objection.text}.`,
        refusedBy: { secret: name, rule: objection.rule },
      })
    }
  }
}
