/** Checks a running call again: it may continue only while it would still be allowed. */
import { decideWhenRead } from '../../core/async/unread.ts'
import type { Placeholder } from '../injection/placeholders.ts'
import type { CallRecord } from '../record.ts'
import {
  type CallPermission,
  type CallScope,
  domainBlocked,
  namesOf,
  selectSecrets,
  type UsableSecret,
} from './permission.ts'
import { type AskedRequest, checkPolicies } from './policy.ts'

/** The data on which the decision was based. */
export type Basis = {
  scope: CallScope
  placeholders: readonly Placeholder[]
  asked: AskedRequest
}

/** Returns the basis of a call; `null` if it was not allowed. */
export function basisOf(record: CallRecord): Basis | null {
  const { asked, projectId, environment, placeholders } = record
  if (asked === null || environment === null) return null
  return { scope: { projectId, environment }, placeholders, asked }
}

type Judging<S> = Pick<CallPermission, 'holder' | 'allows'> & {
  secrets(names: readonly string[]): readonly S[]
}

/**
 * Repeats steps 3 to 6 without the values: no key is opened for a call that continues. `confirm` is called instead of
 * opening a value.
 *
 * @throws Fault of the step that refuses
 */
export async function judgeAgain<S extends UsableSecret>(
  permission: Judging<S>,
  { placeholders, asked }: Basis,
  confirm: (secret: S) => Promise<void> = async () => {},
): Promise<void> {
  const { target } = asked
  const names = namesOf(placeholders)
  const secrets = await decideWhenRead(() => {
    if (!permission.allows(target)) throw domainBlocked(target)
    return selectSecrets(names, permission.secrets(names), {
      holder: permission.holder,
      environment: null,
    })
  })
  for (const secret of secrets.values()) await confirm(secret)
  checkPolicies(secrets, placeholders, asked)
}
