/** The shared part of the two ways to add credentials to a request: `local.ts` and `remote.ts`. */

import type { BodyMemory } from '../core/body_memory.ts'
import type { SocketHandlers } from '../http/route.ts'
import type { Shaped } from '../outbound/stand_ins/shaped.ts'

/** A request that a local program sent through the proxy, for a covered host. */
export type Inbound = {
  request: Request
  /** `host` or `host:port` as the program asked for it; never taken from a header. */
  authority: string
  /** As the program wrote them. */
  pathAndQuery: string
  requestId: string
  /** The base of rewritten links in answers; `null` if the program uses the real host names. */
  linkBase: string | null
  /** In base-URL mode, the host that linked to this request. Its credentials do not count. */
  from?: string | null
  /** The mark of found values in the answer (`outbound/stand_ins/mark.ts`). */
  mark?: string
  /** Makes the connection a WebSocket; returns `false` when the request is no handshake. */
  upgrade(handlers: SocketHandlers, headers: Record<string, string>): boolean
}

export type BackendHandler = (
  request: Request,
  upgrade: Inbound['upgrade'],
) => Promise<Response | undefined>

/** A credential that the caller may name, with the shape of its stand-in. */
export type ProxyCredential = Shaped & {
  name: string
  /** The locations in its policy. */
  locations: readonly string[] | null
}

export type Backend = {
  /** Returns all credentials that a placeholder may name. @throws ApiError, Fault */
  credentials(): Promise<readonly ProxyCredential[]>
  /** Whether to intercept requests to this host. Never throws. */
  covers(host: string, port: number): Promise<boolean>
  /**
   * The sanitised answer; `null` when the connection became a WebSocket.
   *
   * @throws Fault
   */
  execute(inbound: Inbound): Promise<Response | null>
  /** Records that a host was refused, if that is the proxy's task. */
  refused(asked: { host: string; port: number; method: string }): Promise<void>
  /** The memory for this proxy's buffered bodies. */
  bodies: BodyMemory
  /** Waits a short while for requests in progress. */
  close(): Promise<void>
}

/** Shows the user a message, once in a while: never a value, a header or a query. */
export type ProxyNotice = (text: string) => void
