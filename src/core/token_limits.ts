/** A token's limits (protocol 6.3): a positive integer each, or null for no limit. */
export type TokenLimits = {
  calls_per_minute: number | null
  calls_per_day: number | null
  /** Calls that run at the same time. */
  concurrent_calls: number | null
  /** Bytes of request and response bodies. */
  bytes_per_day: number | null
  /** Tokens that model APIs report in `usage`. */
  model_tokens_per_day: number | null
}

/** A token's usage on the current day, UTC, and the number of its running calls. */
export type TokenSpending = {
  calls_today: number
  bytes_today: number
  model_tokens_today: number
  running: number
}

export const limitNames = [
  'calls_per_minute',
  'calls_per_day',
  'concurrent_calls',
  'bytes_per_day',
  'model_tokens_per_day',
] as const satisfies (keyof TokenLimits)[]

export const UNLIMITED: TokenLimits = {
  calls_per_minute: null,
  calls_per_day: null,
  concurrent_calls: null,
  bytes_per_day: null,
  model_tokens_per_day: null,
}
