/** Whether a policy would still allow the calls that a secret was used for, with the resolver's own policy check. */
import type { Policy } from '../../core/policy/policy.ts'
import { objectionToRecorded, type Style } from '../../core/policy/policy_check.ts'
import type { summariseCalls } from '../../features/audit/contract.ts'
import type { CallResult } from '../http/api.ts'

const styles: Record<Style, true> = {
  header: true,
  basic: true,
  query: true,
  path: true,
  json: true,
  form: true,
  websocket: true,
  env: true,
  hmac_sha256: true,
  aws_sigv4: true,
  azure_storage: true,
  google_jwt: true,
}

function isStyle(text: string): text is Style {
  return Object.hasOwn(styles, text)
}

/** `calls` counts those that went through; `refused` counts those of them that the policy would refuse, and `kinds` lists them. */
export function judgeCalls(policy: Policy, recorded: CallResult<typeof summariseCalls>) {
  const passed = recorded.kinds.filter(({ decision }) => decision !== 'blocked')
  const kinds = passed.flatMap(({ method, target_url, style, count }) => {
    if (!isStyle(style)) return []
    const objection = objectionToRecorded(policy, { method, target_url, style })
    return objection === null ? [] : [{ method, target_url, style, count, ...objection }]
  })
  const total = (counted: readonly { count: number }[]) =>
    counted.reduce((sum, { count }) => sum + count, 0)
  return { calls: total(passed), refused: total(kinds), kinds, isWhole: recorded.is_whole }
}
