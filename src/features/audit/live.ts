/**
 * The audit as it is written: server-sent events to members. Each process reads the database for its own streams, so any
 * process may have written a record. A stream ends when its reader may no longer read the audit.
 */

import { Fault, type FaultCode } from '../../core/fault.ts'
import { isUuid } from '../../core/validation/validate.ts'
import { EventStream } from '../../http/reply.ts'
import { type Route, route } from '../../http/route.ts'
import type { FeatureServices } from '../../http/services.ts'
import { requireSession } from '../../identity/authenticate.ts'
import { authorise } from '../../identity/authorise.ts'
import { watchAudit } from './contract.ts'
import { AuditFeed, recordsSince } from './live_feed.ts'
import { endEvent, recordEvents, Watcher } from './live_watcher.ts'

/** Live views of this process: all, of one workspace (protocol 11: a quarter), and of one person. */
const MAX_OF_ALL = 100
const MAX_OF_WORKSPACE = MAX_OF_ALL / 4
const MAX_OF_PERSON = 6
/** Milliseconds; a client that was disconnected for longer reads the list. */
const MAX_ABSENCE_MS = 3_600_000

type Services = Pick<FeatureServices, 'db' | 'log'>

export class LiveAudit {
  readonly #services: Services
  readonly #feeds = new Map<string, AuditFeed>()

  constructor(services: Services) {
    this.#services = services
  }

  get routes(): Route[] {
    return [
      route(watchAudit, ({ caller, grant, lastEventId }) => {
        const { db } = this.#services
        const { workspaceId } = grant
        this.#requireRoom(workspaceId, caller.userId)
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

  /** Ends all streams: their clients reconnect, to another process or to this one after its restart. */
  close(): void {
    for (const { watchers } of this.#feeds.values())
      for (const watcher of watchers) watcher.end('unavailable')
  }

  /** @throws Fault `rate_limited` for a person or a workspace with too many streams, `unavailable` */
  #requireRoom(workspaceId: string, userId: string): void {
    const all = [...this.#feeds.values()].flatMap(({ watchers }) => [...watchers])
    const ofPerson = all.filter((watcher) => watcher.userId === userId).length
    if (ofPerson >= MAX_OF_PERSON) throw buildTooManyFault('You have', MAX_OF_PERSON)
    const ofWorkspace = this.#feeds.get(workspaceId)?.watchers.size ?? 0
    if (ofWorkspace >= MAX_OF_WORKSPACE)
      throw buildTooManyFault('This workspace has', MAX_OF_WORKSPACE)
    if (all.length >= MAX_OF_ALL)
      throw new Fault('unavailable', {
        message: `The server has ${MAX_OF_ALL} live views open, the limit per process. Retry later, or run cloakroom audit list.`,
      })
  }

  async *#watch(
    workspaceId: string,
    watcher: Watcher,
    lastEventId: string | null,
  ): AsyncGenerator<string, void> {
    // Requests that passed the first check at the same time are counted here, where each begins.
    const refused = this.#refusalOf(workspaceId, watcher)
    if (refused) {
      yield endEvent(refused)
      return
    }
    const feed = this.#join(workspaceId, watcher)
    try {
      const { moment, isWhole } = startOf(lastEventId)
      // The runtime sends the head of an answer with the first bytes of its body.
      yield isWhole ? ': connected\n\n' : 'event: gap\ndata: {}\n\n'
      for await (const records of recordsSince(this.#services, watcher.confirm, moment))
        yield recordEvents(records)
      yield* watcher.texts()
    } finally {
      feed.remove(watcher)
    }
  }

  #refusalOf(workspaceId: string, { userId }: Watcher): FaultCode | null {
    try {
      this.#requireRoom(workspaceId, userId)
      return null
    } catch (error) {
      if (error instanceof Fault) return error.code
      throw error
    }
  }

  #join(workspaceId: string, watcher: Watcher): AuditFeed {
    const known = this.#feeds.get(workspaceId)
    const feed = known ?? new AuditFeed(this.#services)
    feed.add(watcher)
    if (!known) {
      this.#feeds.set(workspaceId, feed)
      void feed.run(() => this.#feeds.delete(workspaceId))
    }
    return feed
  }
}

function buildTooManyFault(subject: string, most: number): Fault {
  return new Fault('rate_limited', {
    message: `${subject} ${most} live views open, the limit. Close one and retry, or run cloakroom audit list.`,
    fix: { command: ['cloakroom', 'audit', 'list'] },
  })
}

/** From which moment on records are shown again; not whole when that leaves out some. */
function startOf(lastEventId: string | null): { moment: number; isWhole: boolean } {
  const now = Date.now()
  if (lastEventId === null) return { moment: now, isWhole: true }
  const last = isUuid(lastEventId)
    ? Number.parseInt(lastEventId.replace('-', '').slice(0, 12), 16)
    : 0
  return last < now - MAX_ABSENCE_MS
    ? { moment: now, isWhole: false }
    : { moment: last, isWhole: true }
}
