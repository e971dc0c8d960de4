import type { Timers } from '../core/async/timers.ts'
import type { Log } from '../core/log.ts'
import type { Connection } from '../database/open.ts'
import type { StoreChanges } from '../http/recorder.ts'
import { ChangeRecords } from './changes.ts'
import { AuditTrail, type TrailObserver } from './trail.ts'

type Audited = Pick<Connection, 'db' | 'sql'> & {
  log: Log
  timers: Timers
  observer: TrailObserver | undefined
  /** A resolver that may not read people's changes leaves that to control planes. */
  isLooking: boolean
}

/** Opens the audit of a process. It first takes over entries that ended processes left. */
export async function openAudit({ observer, isLooking, ...connection }: Audited) {
  const trail = new AuditTrail(connection.sql, connection.log, observer)
  await trail.adopt(null)
  const changes = new ChangeRecords(connection, !isLooking)
  const storeChanges: StoreChanges = (...given) => changes.store(...given)
  return {
    trail,
    storeChanges,
    /** Writes all unwritten records. */
    flushAudit: async () => void (await Promise.all([trail.flush(), changes.settle()])),
    close: (timeoutMs: number) => Promise.all([trail.close(timeoutMs), changes.close(timeoutMs)]),
  }
}
