/**
 * The new records of one workspace, read once for all subscribers, and only while there are some. They are found by
 * their IDs, which are nearly ordered by time; late records are searched for some time. A long call is reported twice,
 * first without its outcome.
 */

import type { Grant } from '../../core/grant.ts'
import { describeError, type Log } from '../../core/log.ts'
import type { Database } from '../../database/open.ts'
import { selectFitting } from './fitting.ts'
import { selectByIds, selectClosed, selectIdsAfter } from './live_queries.ts'
import type { Watcher } from './live_watcher.ts'

type Read = Grant<'audit.read'>
type Services = { db: Database; log: Log }

/** Milliseconds between two looks. */
const POLL_MS = 500
/** Maximum delay between a record's ID and its write: the journal of a dead process takes longest. */
const LATE_MS = 20_000
/** Calls that last longer than that and are waited for. */
const MAX_OPEN = 1_000
/** Records that are read at a time. */
const PAGE = 250

/** The smallest id of a moment (RFC 9562, section 5.7). */
export function firstIdOf(moment: number): string {
  const hex = Math.max(0, moment).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/** All pages of what was written from a moment on, and of what may have been written late. */
export async function* recordsSince(
  { db, log }: Services,
  confirm: () => Promise<Read>,
  moment: number,
) {
  let after: string | undefined = firstIdOf(moment - LATE_MS)
  while (after !== undefined) {
    const grant = await confirm()
    const found: { id: string }[] = await selectIdsAfter(db, grant, after, PAGE)
    after = found.length === PAGE ? found.at(-1)?.id : undefined
    const ids = found.map(({ id }) => id)
    if (ids.length > 0) yield selectFitting(await selectByIds(db, grant, ids), log)
  }
}

export class AuditFeed {
  readonly #db: Database
  readonly #log: Log
  readonly #watchers = new Set<Watcher>()
  /** The sent records, and whether their outcome was unknown then. */
  readonly #shown = new Map<string, boolean>()
  #since = Date.now()

  constructor({ db, log }: Services) {
    this.#db = db
    this.#log = log
  }

  get watchers(): ReadonlySet<Watcher> {
    return this.#watchers
  }

  add(watcher: Watcher): void {
    this.#watchers.add(watcher)
  }

  remove(watcher: Watcher): void {
    this.#watchers.delete(watcher)
  }

  /** Runs until the last subscriber leaves, which is announced before a new one can subscribe. */
  async run(onIdle: () => void): Promise<void> {
    while (this.#watchers.size > 0) {
      try {
        await this.#look()
      } catch (error) {
        this.#log.warning('live records are delayed', describeError(error))
      }
      await Bun.sleep(POLL_MS)
    }
    onIdle()
  }

  /** Records that were not read because of an error are found the next time. */
  async #look(): Promise<void> {
    const grants = await Promise.all([...this.#watchers].map((watcher) => watcher.authorizeAgain()))
    const grant = grants.find((found) => found !== null)
    if (!grant) return
    const now = Date.now()
    const ids = await this.#findNew(grant)
    for (let from = 0; from < ids.length; from += PAGE) {
      const records = await selectByIds(this.#db, grant, ids.slice(from, from + PAGE))
      const shown = selectFitting(records, this.#log)
      for (const watcher of this.#watchers) watcher.show(shown)
      for (const { id, source, status_code } of records)
        this.#shown.set(id, source === 'resolver' && status_code === null)
    }
    this.#since = now
    this.#forget(firstIdOf(now - LATE_MS))
  }

  async #findNew(grant: Read): Promise<string[]> {
    const first = firstIdOf(this.#since - LATE_MS)
    const old = [...this.#shown].filter(([id, isOpen]) => isOpen && id < first)
    const ids = await selectClosed(
      this.#db,
      grant,
      old.map(([id]) => id),
    )
    const page = PAGE * 20
    let after: string | undefined = first
    while (after !== undefined) {
      const found: { id: string; isOpen: boolean }[] = await selectIdsAfter(
        this.#db,
        grant,
        after,
        page,
      )
      ids.push(...found.filter(({ id, isOpen }) => this.#isNew(id, isOpen)).map(({ id }) => id))
      after = found.length === page ? found.at(-1)?.id : undefined
    }
    return ids
  }

  #isNew(id: string, isOpen: boolean): boolean {
    const wasOpen = this.#shown.get(id)
    return wasOpen === undefined || (wasOpen && !isOpen)
  }

  #forget(before: string): void {
    const old = [...this.#shown].filter(([id]) => id < before)
    const waitedFor = old.filter(([, isOpen]) => isOpen).slice(-MAX_OPEN)
    for (const [id] of old) this.#shown.delete(id)
    for (const [id] of waitedFor) this.#shown.set(id, true)
  }
}
