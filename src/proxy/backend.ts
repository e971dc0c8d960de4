/** What the two ways of getting credentials into a request have in common: `local.ts` and `remote.ts`. */

import type { BodyMemory } from '../core/body_memory.ts'
import type { SocketHandlers } from '../http/route.ts'
import type { Shaped } from '../outbound/stand_ins/shaped.ts'

/** A request that a program of this machine sent through the proxy, for a host that is ours. */
export type Inbound = {
  request: Request
  /** `host` or `host:port` as the program asked for it; never taken from a header. */
  authority: string
  /** As the program wrote them. */
  pathAndQuery: string
  requestId: string
  /** Where links in answers lead: `null` where the program talks to the real names. */
  linkBase: string | null
  /** The host whose link led here, in base-URL mode: its credentials do not count. */
  from?: string | null
  /** By what found values are to be marked in the answer (`outbound/stand_ins/mark.ts`). */
  mark?: string
  /** Makes the connection a WebSocket; returns `false` when the request is no handshake. */
  upgrade(handlers: SocketHandlers, headers: Record<string, string>): boolean
}

export type BackendHandler = (
  request: Request,
  upgrade: Inbound['upgrade'],
) => Promise<Response | undefined>

/** What the caller may name, by which a stand-in of it can be made. */
export type ProxyCredential = Shaped & {
  name: string
  /** As its policy has them. */
  locations: readonly string[] | null
}

export type Backend = {
  /** All that a placeholder may name here. @throws ApiError, Fault */
  credentials(): Promise<readonly ProxyCredential[]>
  /** Whether requests to this host are to be read at all. Never throws. */
  covers(host: string, port: number): Promise<boolean>
  /**
   * The sanitised answer; `null` when the connection became a WebSocket.
   *
   * @throws Fault
   */
  execute(inbound: Inbound): Promise<Response | null>
  /** Notes that a host was refused outright, where that is the proxy's to note. */
  refused(asked: { host: string; port: number; method: string }): Promise<void>
  /** For the bodies that this proxy holds. */
  bodies: BodyMemory
  /** Lets what is on its way arrive, for a short while. */
  close(): Promise<void>
}

/** Shows the user a message, once in a while: never a value, a header or a query. */
export type ProxyNotice = (text: string) => void
