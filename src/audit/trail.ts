/**
 * The durable trail of agents' actions. An intent is committed to the journal before a credential is sent. All
 * simultaneous requests share one commit, which also proves that they are allowed (journal.ts): in spite of caches, a
 * revoke is effective everywhere from its acknowledgement on. The record is written afterwards, with its outcome,
 * together with others (records.ts).
 */
import type postgres from 'postgres'
import { endsWithin } from '../core/async/timeout.ts'
import { Fault } from '../core/fault.ts'
import { describeError, type Log } from '../core/log.ts'
import { runUntraced, traceWork } from '../core/trace/span.ts'
import type { Entry, Intent, RecordedOutcome } from './entry.ts'
import { FairQueue } from './fair_queue.ts'
import { groupOf, type JournalGroup, writeGroup } from './journal.ts'
import { LastUse } from './last_use.ts'
import { Records } from './records.ts'

export type { Entry, RecordedOutcome } from './entry.ts'

/** An observer of events, for figures; must not throw. */
export type TrailObserver = {
  /** A decision about a request that is final: its record, or the outcome of one. */
  onDecision(decision: Entry | RecordedOutcome): void
  /** A statement ended; `seconds` includes the wait for the database. */
  onWrite(kind: 'intents' | 'outcomes', seconds: number, written: boolean): void
  /** A record that the database will not take. */
  onRefused(): void
}

/** `stale`: nothing was stored, because the token or the policy has changed. */
export type Verdict = 'recorded' | 'stale'

type Waiting = {
  entry: Entry
  since: number
  confirm: (verdict: Verdict) => void
  refuse: (fault: Fault) => void
}

/**
 * Entries in one statement, few enough that the next group does not wait long for it, and entries that
 * may wait before new ones are refused.
 */
const GROUP_SIZE = 32
const MAX_WAITING = 10_000
/** Waiting entries of one workspace, so that it cannot crowd out the others. */
const MAX_SHARE = 2_500
/** Milliseconds a request waits for its record, and a statement for the database. */
const TIMEOUT_MS = 5_000
/** Milliseconds between batches of records. */
const INTERVAL_MS = 250
/** Seconds between checks for entries left by other processes, and seconds after which an entry counts as left. */
const LOOK_SECONDS = 5
const LEFT_SECONDS = 10
/** Groups that left the journal, after which their space is reclaimed. */
const VACUUM_AFTER_ROWS = 2_000

export class AuditTrail {
  readonly #sql: postgres.Sql
  readonly #log: Log
  readonly #observer: TrailObserver | undefined
  readonly #queue = new FairQueue<Waiting>({ all: MAX_WAITING, each: MAX_SHARE })
  /** All waiting entries, queued or in a statement, in the order of their arrival. */
  readonly #waiting = new Set<Waiting>()
  #writing = false
  readonly #records: Records
  readonly #lastUse: LastUse
  readonly #timers: readonly Timer[]

  constructor(sql: postgres.Sql, log: Log, observer?: TrailObserver) {
    this.#sql = sql
    this.#log = log
    this.#observer = observer
    this.#records = new Records(sql, log, {
      timed: (write) => this.#runTimed('outcomes', write),
      onRefused: () => this.#observer?.onRefused(),
    })
    this.#lastUse = new LastUse(sql)
    this.#timers = [
      setInterval(() => this.#tick(), INTERVAL_MS),
      setInterval(() => void this.adopt(LEFT_SECONDS), LOOK_SECONDS * 1000),
    ]
  }

  /**
   * Makes an entry durable.
   *
   * @throws Fault `audit_unavailable` when the database does not confirm in time. Do not send then.
   */
  record(entry: Entry): Promise<Verdict> {
    return traceWork('audit write', {}, () => this.#record(entry))
  }

  #record(entry: Entry): Promise<Verdict> {
    return new Promise((confirm, refuse) => {
      const waiting: Waiting = { entry, since: performance.now(), confirm, refuse }
      const hasRoom = this.#records.waiting < MAX_WAITING
      if (!hasRoom || !this.#queue.add(entry.workspace_id, waiting)) return refuse(unavailable())
      this.#waiting.add(waiting)
      // Entries that arrive in the same tick of the event loop share a commit, also when no write is running.
      if (!this.#writing && this.#queue.length === 1)
        runUntraced(() => setImmediate(() => void this.#write()))
    })
  }

  /** Takes over entries that an ended transaction wrote to the journal. */
  hold(group: JournalGroup): void {
    for (const { entry } of group.intents) {
      this.#lastUse.note(entry.token_id, entry.timestamp)
      if (entry.status_code !== null) this.#observer?.onDecision(entry)
    }
    this.#records.hold(group)
  }

  /** Adds the outcome to a recorded entry. */
  conclude(outcome: RecordedOutcome): void {
    this.#records.conclude(outcome)
    this.#observer?.onDecision(outcome)
  }

  /** Entries that wait for their statement, and records that wait to be written. */
  get depth(): { entries: number; outcomes: number } {
    return { entries: this.#queue.length, outcomes: this.#records.waiting }
  }

  /** Writes all records of this process, including open calls without an outcome. Failed writes are retried. */
  async flush(): Promise<void> {
    await this.#records.flush()
    await this.#attempt('last use could not be recorded', () => this.#lastUse.flush())
  }

  /** Writes records of groups that have been in the journal for more than `seconds`, or of all. */
  adopt(seconds: number | null): Promise<void> {
    return this.#attempt('the journal could not be read', () => this.#records.adopt(seconds))
  }

  /** Writes everything that is left, at most `timeoutMs` milliseconds long. */
  async close(timeoutMs: number): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    const deadline = Date.now() + timeoutMs
    do {
      await endsWithin(deadline - Date.now(), this.flush())
      if (this.#isBusy) await Bun.sleep(20)
    } while (this.#isBusy && Date.now() < deadline)
    for (const waiting of this.#waiting) waiting.refuse(unavailable())
  }

  get #isBusy(): boolean {
    return this.#queue.length + this.#records.waiting > 0 || this.#writing
  }

  #tick(): void {
    this.#expire(performance.now() - TIMEOUT_MS + INTERVAL_MS)
    void this.#records.tick()
    void this.#attempt('last use could not be recorded', () => this.#lastUse.write())
    if (this.#records.emptied < VACUUM_AFTER_ROWS) return
    this.#records.emptied = 0
    const vacuum = 'vacuum (skip_locked, truncate false) audit_journal'
    void this.#attempt('the journal could not be vacuumed', () => this.#sql.unsafe(vacuum))
  }

  #expire(since: number): void {
    for (const waiting of this.#waiting) {
      if (waiting.since > since) return
      this.#waiting.delete(waiting)
      waiting.refuse(unavailable())
    }
  }

  async #write(): Promise<void> {
    if (this.#writing) return
    this.#writing = true
    while (this.#queue.length > 0) {
      const group = this.#queue.take(GROUP_SIZE).filter((waiting) => this.#waiting.has(waiting))
      if (group.length > 0) await this.#commit(group)
    }
    this.#writing = false
  }

  /** Waits for one group, for a limited time: a stalled statement must not delay the next. */
  async #commit(members: readonly Waiting[]): Promise<void> {
    const group = groupOf(members.map(({ entry }) => entry))
    const stored = this.#runTimed('intents', () => writeGroup(this.#sql, group)).then(
      (live) => this.#confirm(members, live),
      (error) => {
        const count = { entries: members.length }
        this.#log.error('audit could not be written', { ...count, ...describeError(error) })
        for (const waiting of members)
          if (this.#waiting.delete(waiting)) waiting.refuse(unavailable(error))
        // If only the confirmation was lost, the intents are stored, and nothing was sent.
        this.hold({ ...group, intents: group.intents.map(asUnused), isUnconfirmed: true })
      },
    )
    await endsWithin(TIMEOUT_MS, stored)
  }

  #confirm(members: readonly Waiting[], { id, intents }: JournalGroup): void {
    const held: Intent[] = []
    for (const waiting of members) {
      const intent = intents[held.length]
      // In the same order, without those that were not stored.
      const isStored = intent?.entry === waiting.entry
      const isAwaited = this.#waiting.delete(waiting)
      if (isStored) held.push(isAwaited ? intent : asUnused(intent))
      if (isAwaited) waiting.confirm(isStored ? 'recorded' : 'stale')
    }
    this.hold({ id, intents: held })
  }

  async #attempt(failure: string, work: () => PromiseLike<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#log.warning(failure, describeError(error))
    }
  }

  async #runTimed<T>(kind: 'intents' | 'outcomes', write: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    let written = false
    try {
      const result = await write()
      written = true
      return result
    } finally {
      this.#observer?.onWrite(kind, (performance.now() - startedAt) / 1000, written)
    }
  }
}

/** The outcome of an intent that was stored after its request had been refused: nothing was sent for it. */
function asUnused(intent: Intent): Intent {
  const outcome = {
    decision: 'error' as const,
    reason: 'audit_unavailable',
    status_code: 503,
    duration_ms: TIMEOUT_MS,
    redacted: false,
  }
  return { ...intent, entry: { ...intent.entry, ...outcome } }
}

function unavailable(cause?: unknown): Fault {
  return new Fault('audit_unavailable', { cause })
}
