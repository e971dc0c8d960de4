/** What the resolver's steps stand on. */
import type { Broker } from '../access/index.ts'
import type { AddressBook } from '../outbound/address_lookup.ts'
import type { Dialler } from '../outbound/fetch.ts'
import type { SocketDialler } from '../outbound/websocket_dial.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Lanes } from './bulkhead.ts'
import type { OpenCalls } from './live_calls.ts'
import type { Turns } from './scheduler.ts'

export type ResolverServices = Broker & {
  addresses: AddressBook
  dialler: Dialler
  sockets: SocketDialler
  turns: Turns
  /** RESOLVER_CONCURRENCY, by workspace. */
  lanes: Lanes
  /** Streams and WebSockets, for as long as they last. */
  openCalls: OpenCalls
  /** Milliseconds, where the call names no deadline. */
  defaultTimeoutMs: number
  userAgent: string
  clock: Clock
  log: Log
}
