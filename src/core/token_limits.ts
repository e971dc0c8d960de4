/** What a token may spend (protocol 6.3): a positive integer each, or null where nothing is limited. */
export type TokenLimits = {
  calls_per_minute: number | null
  calls_per_day: number | null
  /** Calls that run at the same time. */
  concurrent_calls: number | null
  /** Bytes of bodies, of requests and answers. */
  bytes_per_day: number | null
  /** As APIs of models report them in `usage`. */
  model_tokens_per_day: number | null
}
