/**
 * Connections to upstreams, each for one token (protocol 6.2). Behind a proxy that confuses requests, a connection may
 * mix one caller's data into the response of the next caller. So it is not shared. Each host of a token has a separate
 * session with its own connections. The least recently used idle sessions are evicted first. Sessions in use are not
 * limited here: RESOLVER_CONCURRENCY bounds the calls of a workspace.
 */

/** The owner of connections. */
export type Owner = { workspaceId: string; tokenId: string }

/** The part of Bun.FetchSession that a pool needs. */
type Closable = { close(): void }

type Options<S> = {
  open(host: string): S
  /** Sessions that are kept, used or not. */
  max?: number
  /** How many of them may be of one workspace. */
  share?: number
}

type Entry<S> = { session: S; workspaceId: string; uses: number }

/** A session in use, until it is released. */
export type Lease<S> = { session: S; release(): void }

const MAX_SESSIONS = 256
const SHARE = 64

export class SessionPool<S extends Closable> {
  readonly #open: (host: string) => S
  readonly #max: number
  readonly #share: number
  /** Sessions by token and host, least recently used first. */
  readonly #entries = new Map<string, Entry<S>>()
  /** Sessions by workspace. */
  readonly #counts = new Map<string, number>()

  constructor({ open, max = MAX_SESSIONS, share = SHARE }: Options<S>) {
    this.#open = open
    this.#max = max
    this.#share = share
  }

  get size(): number {
    return this.#entries.size
  }

  take({ workspaceId, tokenId }: Owner, host: string): Lease<S> {
    const key = `${workspaceId}/${tokenId}/${host}`
    const entry = this.#entries.get(key) ?? this.#add(workspaceId, host)
    entry.uses += 1
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    this.#makeRoom(workspaceId)
    let released = false
    return {
      session: entry.session,
      release: () => {
        if (released) return
        released = true
        entry.uses -= 1
        this.#makeRoom(workspaceId)
      },
    }
  }

  close(): void {
    for (const { session } of this.#entries.values()) session.close()
    this.#entries.clear()
    this.#counts.clear()
  }

  #add(workspaceId: string, host: string): Entry<S> {
    this.#counts.set(workspaceId, (this.#counts.get(workspaceId) ?? 0) + 1)
    return { session: this.#open(host), workspaceId, uses: 0 }
  }

  /** A workspace over its share evicts its own sessions first. */
  #makeRoom(workspaceId: string): void {
    while ((this.#counts.get(workspaceId) ?? 0) > this.#share) {
      if (!this.#closeIdle((entry) => entry.workspaceId === workspaceId)) break
    }
    while (this.#entries.size > this.#max) {
      if (!this.#closeIdle(() => true)) break
    }
  }

  #closeIdle(isMeant: (entry: Entry<S>) => boolean): boolean {
    for (const [key, entry] of this.#entries) {
      if (entry.uses > 0 || !isMeant(entry)) continue
      this.#entries.delete(key)
      const left = (this.#counts.get(entry.workspaceId) ?? 1) - 1
      if (left === 0) this.#counts.delete(entry.workspaceId)
      else this.#counts.set(entry.workspaceId, left)
      entry.session.close()
      return true
    }
    return false
  }
}
