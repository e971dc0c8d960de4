/** Services that the resolver's steps use. */
import type { Access } from '../access/index.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { Timers } from '../core/async/timers.ts'
import type { BodyMemory } from '../core/body_memory.ts'
import type { Log } from '../core/log.ts'
import type { LruMap } from '../core/lru.ts'
import type { RefusalNotices } from '../notices/refusals.ts'
import type { Outbound } from '../outbound/execute.ts'
import type { Scheduler } from '../outbound/scheduler.ts'
import type { Renewals } from '../renewal/renewals.ts'
import type { Bulkheads } from './bulkhead.ts'
import type { Followers } from './followers.ts'
import type { GuardCache } from './guards.ts'
import type { CallLimits } from './limits/call_limits.ts'
import type { LiveCalls } from './live_calls.ts'

/** Milliseconds for a whole response, and for the idle time of a streamed one. */
export type Deadlines = { wholeMs: number; silenceMs: number }

/** Tokens whose listing was recorded. */
export type Listings = LruMap<string, true>

export type ResolverServices = Access & {
  outbound: Outbound
  renewals: Renewals
  /** Requests to use held secrets. */
  approvals: Approvals
  refusalNotices: RefusalNotices
  scheduler: Scheduler
  /** RESOLVER_CONCURRENCY, by workspace. */
  bulkheads: Bulkheads
  /** Limits of tokens. */
  limits: CallLimits
  /** The memory for the bodies of calls. */
  bodies: BodyMemory
  /** Guards for the search of answers. */
  guards: GuardCache
  /** Calls with guards that cover values derived meanwhile. */
  followers: Followers
  /** Open streams and WebSockets. */
  liveCalls: LiveCalls
  listings: Listings
  /** Default deadlines, and the longest idle time of a stream. */
  deadlines: Deadlines
  timers: Timers
  log: Log
}
