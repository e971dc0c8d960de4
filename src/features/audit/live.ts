/**
 * The audit as it is written: server-sent events to members who look. Each process reads for its own, so it
 * does not matter which process wrote a record. Whoever may no longer read the audit sees nothing more.
 */
import { requireSession } from '../../identity/authenticate.ts'
import { authorise } from '../../identity/authorise.ts'
import { Fault } from '../../platform/fault.ts'
import type { Caller } from '../../platform/grant.ts'
import { EventStream } from '../../platform/http/reply.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { isUuid } from '../../platform/http/validate.ts'
import type { FeatureServices } from '../../platform/services.ts'
import { watchAudit } from './contract.ts'
import { Feed, recordsSince } from './live_feed.ts'
import { textOf, Watcher } from './live_watcher.ts'

/** Streams in this process: of one person, and of all. */
const MAX_OF_PERSON = 6
const MAX_OF_ALL = 100
/** Milliseconds; who was away for longer reads the list. */
const MAX_AWAY_MS = 3_600_000

type Services = Pick<FeatureServices, 'db' | 'log'>

export class LiveAudit {
  readonly #services: Services
  readonly #feeds = new Map<string, Feed>()

  constructor(services: Services) {
    this.#services = services
  }

  get routes(): Route[] {
    return [
      route(watchAudit, ({ caller, grant, lastEventId }) => {
        const { db } = this.#services
        this.#requireRoom(caller)
        const { workspaceId } = grant
        const watcher = new Watcher(caller.userId, async () => {
          await requireSession(db, caller)
          return authorise(db, caller, 'audit.read', { workspaceId })
        })
        return new EventStream(
          () => this.#watch(workspaceId, watcher, lastEventId),
          () => watcher.end('unavailable'),
        )
      }),
    ]
  }

  /** Ends all streams: those who look come back to another process, or to this one when it is there again. */
  close(): void {
    for (const { watchers } of this.#feeds.values())
      for (const watcher of watchers) watcher.end('unavailable')
  }

  #requireRoom({ userId }: Caller): void {
    const all = [...this.#feeds.values()].flatMap(({ watchers }) => [...watchers])
    if (all.length >= MAX_OF_ALL) throw new Fault('unavailable')
    if (all.filter((watcher) => watcher.userId === userId).length >= MAX_OF_PERSON)
      throw new Fault('rate_limited', { message: 'You are looking at so many streams already.' })
  }

  async *#watch(workspaceId: string, watcher: Watcher, lastEventId: string | null) {
    const feed = this.#join(workspaceId, watcher)
    try {
      const { moment, isWhole } = startOf(lastEventId)
      // Something at once: the head of the answer goes out with the first of its body.
      yield isWhole ? ': here they come\n\n' : 'event: gap\ndata: {}\n\n'
      for await (const records of recordsSince(this.#services, watcher.confirm, moment))
        yield textOf(records)
      yield* watcher.texts()
    } finally {
      feed.remove(watcher)
    }
  }

  #join(workspaceId: string, watcher: Watcher): Feed {
    const known = this.#feeds.get(workspaceId)
    const feed = known ?? new Feed(this.#services)
    feed.add(watcher)
    if (!known) {
      this.#feeds.set(workspaceId, feed)
      void feed.run(() => this.#feeds.delete(workspaceId))
    }
    return feed
  }
}

/** From which moment on records are shown again; not whole when that leaves out some. */
function startOf(lastEventId: string | null): { moment: number; isWhole: boolean } {
  const now = Date.now()
  if (lastEventId === null) return { moment: now, isWhole: true }
  const last = isUuid(lastEventId)
    ? Number.parseInt(lastEventId.replace('-', '').slice(0, 12), 16)
    : 0
  return last < now - MAX_AWAY_MS
    ? { moment: now, isWhole: false }
    : { moment: last, isWhole: true }
}
