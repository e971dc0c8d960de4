/** Schemas that no version had, because the next migration was in the same change. */
export const NEVER_LANDED: readonly string[] = [
  '0000_initial',
  '0003_daily_metrics',
  '0022_used_ids',
]
