/**
 * Notices between processes, and within one. They spare reads and wipe keys early, nothing more: no
 * decision may depend on one arriving, because a connection that breaks loses what was sent meanwhile.
 */
import { describeError, type Log } from '../log.ts'
import type { Connection } from './open.ts'

/** Sent by triggers of the migrations; the payload is the id of the workspace that changed. */
export const POLICY_CHANGES = 'cloakroom_policy'

export type Subscriber = {
  onNotice(payload: string): void
  /** Notices may have been missed: what depends on them must be forgotten. */
  onGap(): void
}

export type Bus = {
  subscribe(channel: string, subscriber: Subscriber): void
  /** To be called after the commit of what the database's triggers tell of. */
  publish(channel: string, payload: string): void
}

/** Over PostgreSQL's LISTEN, or within this process for the embedded database, which has no other. */
export function openBus({ kind, sql }: Pick<Connection, 'kind' | 'sql'>, log: Log): Bus {
  return kind === 'embedded' ? localBus() : listeningBus(sql, log)
}

function localBus(): Bus {
  const subscribers = new Map<string, Subscriber[]>()
  return {
    subscribe: (channel, subscriber) => {
      subscribers.set(channel, [...(subscribers.get(channel) ?? []), subscriber])
    },
    publish: (channel, payload) => {
      for (const { onNotice } of subscribers.get(channel) ?? []) onNotice(payload)
    },
  }
}

/**
 * One connection besides the pool, which the driver makes again whenever it breaks, and ends with the
 * pool. What is published comes from the triggers, also to the process that made the change.
 */
function listeningBus(sql: Connection['sql'], log: Log): Bus {
  return {
    subscribe: (channel, { onNotice, onGap }) => {
      sql
        .listen(channel, onNotice, onGap)
        .catch((error) =>
          log.warning('notices do not arrive', { channel, ...describeError(error) }),
        )
    },
    publish: () => {},
  }
}
