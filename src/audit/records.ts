/**
 * Writes records once each, with their outcome, in batches. The transaction that writes the last record of a group
 * deletes its row in the journal, so an action in neither was never allowed. Writing a record twice has no further
 * effect: one with an outcome stays unchanged. So any process may write entries left in the journal, even those of a
 * process that is still alive.
 */
import type postgres from 'postgres'
import { endsWithin } from '../core/async/timeout.ts'
import { describeError, type Log } from '../core/log.ts'
import type { Entry, RecordedOutcome } from './entry.ts'
import { type JournalGroup, type Row, readGroups } from './journal.ts'
import { storeRefused, storeUnreadable, type Unwritten, writeRecords } from './write_records.ts'

/** Maximum records, and characters, of a batch: it blocks other statements in the embedded database. */
const BATCH_SIZE = 500
const BATCH_LENGTH = 1_048_576
/** Milliseconds after which a call is recorded without its outcome. */
const LONG_MS = 1_000
/** Milliseconds that a statement gets before it is tried again. */
const TIMEOUT_MS = 5_000
/** SQLSTATE classes of an invalid value, or of a duplicate id: a retry will not help. */
const UNFIT = /^(21|22|23|54)/

/** A record to write, and the group that is in the journal until then. */
type Pending = Unwritten & { since: number; group: Held | null }
type Held = { id: string; left: number }

type Timed = <T>(write: () => Promise<T>) => Promise<T>
type Listeners = { timed: Timed; onRefused: () => void }

export class Records {
  readonly #sql: postgres.Sql
  readonly #log: Log
  readonly #timed: Timed
  readonly #onRefused: () => void
  /** Records without an outcome, oldest first. */
  readonly #open = new Map<string, Pending>()
  #done: Pending[] = []
  #current: Promise<void> | undefined
  #next: Promise<void> | undefined
  #look: Promise<void> | undefined
  /** Groups that left the journal. */
  emptied = 0

  constructor(sql: postgres.Sql, log: Log, { timed, onRefused }: Listeners) {
    this.#sql = sql
    this.#log = log
    this.#timed = timed
    this.#onRefused = onRefused
  }

  /** Complete records that are not written yet. */
  get waiting(): number {
    return this.#done.length
  }

  /** Takes over a group that is in the journal, or may be. */
  hold(group: JournalGroup): void {
    for (const pending of pendingOf(group, performance.now())) {
      if (pending.conclusion.status_code === null) this.#open.set(pending.entry.id, pending)
      else this.#done.push(pending)
    }
  }

  conclude(outcome: RecordedOutcome): void {
    const pending = this.#open.get(outcome.id)
    if (!pending) return
    this.#open.delete(outcome.id)
    pending.conclusion = outcome
    this.#done.push(pending)
  }

  /** Writes complete and slow records, unless a write is running. */
  tick(): Promise<void> {
    return this.#current ?? this.#begin(performance.now() - LONG_MS)
  }

  /** Writes all records of this moment, also those without an outcome. */
  flush(): Promise<void> {
    if (!this.#current) return this.#begin(Number.POSITIVE_INFINITY)
    this.#next ??= this.#current.then(() => {
      this.#next = undefined
      return this.flush()
    })
    return this.#next
  }

  /**
   * Writes the records of groups that have been in the journal for more than `seconds`, or of all: their process has
   * ended. Checks do not overlap, so that they do not pile up on a stalled database.
   */
  adopt(seconds: number | null): Promise<void> {
    this.#look ??= this.#adopt(seconds).finally(() => {
      this.#look = undefined
    })
    return this.#look
  }

  async #adopt(seconds: number | null): Promise<void> {
    const unreadable: Row[] = []
    const groups = await readGroups(this.#sql, seconds, (row) => unreadable.push(row))
    for (const row of unreadable) await this.#discard(row)
    const left = groups.flatMap((group) => pendingOf(group, 0))
    for (let next = 0; next < left.length; ) {
      const batch = batchFrom(left, next)
      if (!(await this.#store(batch))) return
      next += batch.length
    }
  }

  /** Moves an unreadable row to the refused ones: it can never become a group. */
  async #discard(row: Row): Promise<void> {
    try {
      await storeUnreadable(this.#sql, row)
      this.#onRefused()
      this.#log.error('a journal row cannot be read', { row: row.id })
    } catch (error) {
      this.#log.warning('a journal row is delayed', { row: row.id, ...describeError(error) })
    }
  }

  #begin(openSince: number): Promise<void> {
    this.#current = this.#write(openSince).finally(() => {
      this.#current = undefined
    })
    return this.#current
  }

  async #write(openSince: number): Promise<void> {
    const done = this.#done.splice(0)
    const due = [...done, ...this.#unseen(openSince)]
    for (let next = 0; next < due.length; ) {
      const batch = batchFrom(due, next)
      if (await this.#store(batch)) next += batch.length
      else {
        this.#done.unshift(...done.slice(next))
        return
      }
    }
  }

  /** Running calls that are old enough to be recorded, and are not yet. */
  *#unseen(since: number): Iterable<Pending> {
    for (const pending of this.#open.values()) {
      if (pending.since > since) return
      if (pending.group) yield pending
    }
  }

  /** Whether the batch needs no further try. */
  async #store(items: readonly Pending[]): Promise<boolean> {
    const emptied = release(items)
    const write = () => writeRecords(this.#sql, items, emptied).then(() => true)
    try {
      if (await endsWithin(TIMEOUT_MS, this.#timed(write))) {
        for (const pending of items) pending.group = null
        this.emptied += emptied.length
        return true
      }
      this.#log.warning('audit records delayed', { records: items.length })
    } catch (error) {
      restore(items)
      if (UNFIT.test(codeOf(error))) return this.#divide(items, error)
      this.#log.warning('audit records delayed', { records: items.length, ...describeError(error) })
      return false
    }
    restore(items)
    return false
  }

  /** Divides a batch, so that one rejected record does not delay the others. */
  async #divide(items: readonly Pending[], error: unknown): Promise<boolean> {
    const [only, another] = items
    if (only && !another) return this.#refuse(only, error)
    const middle = Math.ceil(items.length / 2)
    const first = await this.#store(items.slice(0, middle))
    return (await this.#store(items.slice(middle))) && first
  }

  /** A repeat would be refused too: its intent is kept apart. */
  async #refuse(pending: Pending, error: unknown): Promise<boolean> {
    const emptied = release([pending])
    try {
      await storeRefused(this.#sql, pending, { code: codeOf(error), emptied })
    } catch (failure) {
      restore([pending])
      this.#log.warning('audit records delayed', { records: 1, ...describeError(failure) })
      return false
    }
    pending.group = null
    this.#onRefused()
    const record = pending.entry.id
    this.#log.error('an audit record cannot be stored', { record, ...describeError(error) })
    return true
  }
}

function pendingOf({ id, intents, isUnconfirmed }: JournalGroup, since: number): Pending[] {
  const group = { id, left: intents.length }
  const unconfirmed = isUnconfirmed ? id : null
  return intents.map(({ entry }) => ({ entry, conclusion: entry, unconfirmed, since, group }))
}

/** Removes the records from their groups, and returns the groups that became empty. */
function release(items: readonly Pending[]): string[] {
  return items.flatMap(({ group }) => {
    if (!group) return []
    group.left -= 1
    return group.left === 0 ? [group.id] : []
  })
}

function restore(items: readonly Pending[]): void {
  for (const { group } of items) if (group) group.left += 1
}

function batchFrom(due: readonly Pending[], from: number): Pending[] {
  const batch: Pending[] = []
  let length = 0
  for (const pending of due.slice(from, from + BATCH_SIZE)) {
    if (length > BATCH_LENGTH) break
    batch.push(pending)
    length += lengthOf(pending.entry)
  }
  return batch
}

/** Returns the approximate length of the fields without a small bound. */
function lengthOf({ target_url, credential_ref }: Entry): number {
  return (target_url?.length ?? 0) + (credential_ref?.length ?? 0)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
