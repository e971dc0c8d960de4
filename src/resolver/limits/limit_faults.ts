/** Refusals of calls over a token limit (protocol 6.3): the limit, its value, and when it resets. */
import { Fault } from '../../core/fault.ts'
import type { TokenLimits } from '../../core/token_limits.ts'
import type { DaySums } from '../../database/limits/token_spending.ts'

const DAY_SECONDS = 86_400
const AT_MIDNIGHT = 'Retry after 00:00 UTC.'

/** @param now milliseconds */
export function budgetReached(
  limits: TokenLimits,
  sums: DaySums,
  { bytes, now }: { bytes: number; now: number },
): Fault {
  const wait = DAY_SECONDS - (Math.floor(now / 1000) % DAY_SECONDS)
  const { calls_per_day, concurrent_calls, bytes_per_day, model_tokens_per_day } = limits
  if (isReached(calls_per_day, sums.calls))
    return budgetFault(
      `This token has used its daily limit of ${text(calls_per_day)} calls. ${AT_MIDNIGHT}`,
      wait,
    )
  if (isReached(model_tokens_per_day, sums.modelTokens))
    return budgetFault(
      `This token has used its daily limit of ${text(model_tokens_per_day)} model tokens. ${AT_MIDNIGHT}`,
      wait,
    )
  if (isReached(bytes_per_day, sums.bytes))
    return budgetFault(
      `This token has used its daily limit of ${text(bytes_per_day)} bytes. ${AT_MIDNIGHT}`,
      wait,
    )
  if (bytes_per_day !== null && sums.bytes + bytes > bytes_per_day)
    return budgetFault(
      `The request body has ${text(bytes)} bytes. This token has ${text(bytes_per_day - sums.bytes)} of its ${text(bytes_per_day)} daily bytes left. ${AT_MIDNIGHT}`,
      wait,
    )
  return budgetFault(
    `This token has ${text(concurrent_calls ?? sums.running)} calls running, which is its limit. Retry when one of them ends.`,
    1,
  )
}

export function buildOverMinuteFault({ calls_per_minute }: TokenLimits, seconds: number): Fault {
  return budgetFault(
    `This token can make ${text(calls_per_minute)} calls per minute. Retry in ${seconds} s.`,
    seconds,
  )
}

export function isReached(limit: number | null, sum: number): boolean {
  return limit !== null && sum >= limit
}

function budgetFault(message: string, seconds: number): Fault {
  return new Fault('budget_exceeded', { message, headers: { 'retry-after': String(seconds) } })
}

function text(amount: number | null): string {
  return (amount ?? 0).toLocaleString('en-US')
}
