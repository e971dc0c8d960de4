/** What resolver and delivery share: tokens, views, opened keys, and one rate per token over both. */
import type postgres from 'postgres'
import type { AuditTrail } from '../audit/trail.ts'
import { RateLimiter } from '../platform/http/rate.ts'
import type { SliceServices } from '../platform/services.ts'
import { KeyCache } from './keys.ts'
import { openPin, type Pin } from './locked_decision.ts'
import { openReader } from './reader.ts'
import { ViewBook } from './snapshots.ts'
import { TokenBook } from './tokens.ts'

export type Broker = {
  tokens: TokenBook
  views: ViewBook
  keys: KeyCache
  /** RATE_TOKEN, by token id. */
  limiter: RateLimiter
  trail: AuditTrail
  pin: Pin
}

/** Drops what is known of a workspace, or of all: the next request reads anew, and keys are wiped. */
export function forgetWorkspace({ tokens, views, keys }: Broker, workspaceId?: string): void {
  tokens.forget(workspaceId)
  keys.forget(workspaceId === undefined ? '' : `${workspaceId}/`)
  if (workspaceId === undefined) views.forgetAll()
  else views.forget(workspaceId)
}

export function openBroker(
  { config, clock, outer }: Pick<SliceServices, 'config' | 'clock' | 'outer'>,
  { sql, trail }: { sql: postgres.Sql; trail: AuditTrail },
): Broker {
  const reader = openReader(sql)
  return {
    tokens: new TokenBook(reader, clock),
    views: new ViewBook(reader, outer),
    keys: new KeyCache(config.KEY_CACHE_SECONDS, clock),
    limiter: new RateLimiter(config.RATE_TOKEN, clock),
    trail,
    pin: openPin(sql, outer),
  }
}
