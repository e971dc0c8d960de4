/** The usage of a token's limits, for people. */
import type { TokenLimits, TokenSpending } from '../../core/token_limits.ts'

type Limited = { limits?: TokenLimits | null; spent?: TokenSpending | null | undefined }

/** The usage of each limit, such as `calls 412 of 1,000 today`; null for a token without limits. */
export function limitsInWords({ limits = null, spent }: Limited): string[] | null {
  if (limits === null) return null
  const formatUse = (
    name: string,
    amount: number | undefined,
    limit: number | null,
    when: string,
  ) => (limit === null ? [] : [`${name} ${text(amount ?? 0)} of ${text(limit)} ${when}`])
  return [
    ...(limits.calls_per_minute === null
      ? []
      : [`calls ${text(limits.calls_per_minute)} a minute`]),
    ...formatUse('calls', spent?.calls_today, limits.calls_per_day, 'today'),
    ...formatUse('running', spent?.running, limits.concurrent_calls, 'at once'),
    ...formatUse('bytes', spent?.bytes_today, limits.bytes_per_day, 'today'),
    ...formatUse('model tokens', spent?.model_tokens_today, limits.model_tokens_per_day, 'today'),
  ]
}

function text(amount: number): string {
  return amount.toLocaleString('en-US')
}
