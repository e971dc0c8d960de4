/** What the resolver's steps stand on. */
import type { Access } from '../access/index.ts'
import type { AddressLookup } from '../outbound/address_lookup.ts'
import type { Fetcher } from '../outbound/fetch.ts'
import type { SocketConnector } from '../outbound/websocket_connect.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Bulkheads } from './bulkhead.ts'
import type { LiveCalls } from './live_calls.ts'
import type { Scheduler } from './scheduler.ts'

export type ResolverServices = Access & {
  addresses: AddressLookup
  fetcher: Fetcher
  sockets: SocketConnector
  scheduler: Scheduler
  /** RESOLVER_CONCURRENCY, by workspace. */
  bulkheads: Bulkheads
  /** Streams and WebSockets, for as long as they last. */
  liveCalls: LiveCalls
  /** Milliseconds, where the call names no deadline. */
  defaultTimeoutMs: number
  userAgent: string
  clock: Clock
  log: Log
}
