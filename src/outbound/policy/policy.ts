/** Step 6: checks the policy of each secret. A policy only narrows the use of its value. */
import { Fault } from '../../core/fault.ts'
import type { Policy } from '../../core/policy/policy.ts'
import { type JudgedRequest, objectionTo } from '../../core/policy/policy_check.ts'
import type { Placeholder } from '../injection/placeholders.ts'
import type { Target } from '../target.ts'

/** A request to the upstream. Its operations are always present, so that no policy that limits them is skipped. */
export type AskedRequest = JudgedRequest &
  Required<Pick<JudgedRequest, 'operations'>> & { target: Target }

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

/**
 * Refuses an answer that a store computes from an object with a query in the body (S3 Select, Blob Query of Azure). It
 * may be any part or form of a value, which the guard could not recognise. @throws Fault `invalid_target`
 */
export function checkNotComputed(method: string, search: string): void {
  if (method !== 'POST') return
  const parameters = new URLSearchParams(search)
  const isSelect = parameters.has('select') && parameters.has('select-type')
  const isQuery = [...parameters].some(
    ([name, text]) => /^comp$/i.test(name) && /^query$/i.test(text),
  )
  if (!isSelect && !isQuery) return
  throw new Fault('invalid_target', {
    message: COMPUTED,
    fields: [{ path: 'target_url', message: COMPUTED }],
  })
}

const COMPUTED =
  'Objects cannot be queried (S3 Select, Blob Query): the result cannot be searched for credentials. Fetch the object.'
