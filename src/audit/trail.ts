/**
 * The durable trail of what agents did. An intent is committed before a credential leaves; all
 * requests that wait at the same moment share one commit. The same statement proves that the token is
 * still live, by the database's clock, and that the decision was made under the workspace's current
 * policy version: whatever was cached, a revoke holds everywhere from its acknowledgement on.
 */
import type postgres from 'postgres'
import { Fault } from '../platform/fault.ts'
import { describeError, type Log } from '../platform/log.ts'
import { endsWithin } from '../platform/timeout.ts'
import { FairQueue } from './fair_queue.ts'
import {
  type Entry,
  insertEntries,
  type Outcome,
  stampTokens,
  updateOutcomes,
} from './statements.ts'

export type { Entry, Outcome } from './statements.ts'

/** Told of what happens, for figures; must not throw. */
export type TrailObserver = {
  /** A decision about a request that is final: its record, or the outcome of one. */
  onDecision(decision: Entry | Outcome): void
  /** A statement ended; `seconds` includes the wait for the database. */
  onWrite(kind: 'intents' | 'outcomes', seconds: number, written: boolean): void
}

/** `stale`: nothing was stored, because the token or the policy is no longer what it was. */
export type Verdict = 'recorded' | 'stale'

type Waiting = {
  entry: Entry
  confirm: (verdict: Verdict) => void
  refuse: (fault: Fault) => void
  expired: boolean
}

/**
 * Entries in one statement, few enough that the next group does not wait long for it, and entries that
 * may wait before new ones are refused.
 */
const GROUP_SIZE = 32
const MAX_WAITING = 10_000
/** Of them, those of one workspace: no other is refused because of it. */
const MAX_SHARE = 2_500
/** Milliseconds a request waits for its record, and a statement for the database. */
const TIMEOUT_MS = 5_000
/** Milliseconds between writes of outcomes. */
const OUTCOME_INTERVAL_MS = 250

export class AuditTrail {
  readonly #sql: postgres.Sql
  readonly #log: Log
  readonly #observer: TrailObserver | undefined
  readonly #waiting = new FairQueue<Waiting>({ all: MAX_WAITING, each: MAX_SHARE })
  #writing = false
  #outcomes: Outcome[] = []
  #flushing: Promise<void> | undefined
  readonly #usedTokens = new Map<string, number>()
  readonly #timer: Timer

  constructor(sql: postgres.Sql, log: Log, observer?: TrailObserver) {
    this.#sql = sql
    this.#log = log
    this.#observer = observer
    this.#timer = setInterval(() => void this.flush(), OUTCOME_INTERVAL_MS)
  }

  /**
   * Makes an entry durable.
   *
   * @throws Fault `audit_unavailable` when the database does not confirm in time; nothing may be sent
   */
  record(entry: Entry): Promise<Verdict> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { entry, expired: false, confirm: resolve, refuse: reject }
      if (!this.#waiting.add(entry.workspace_id, waiting)) return reject(unavailable())
      const timer = setTimeout(() => this.#expire(waiting), TIMEOUT_MS)
      waiting.confirm = (verdict) => {
        clearTimeout(timer)
        if (waiting.expired) {
          if (verdict === 'recorded') this.#disown(entry)
          return
        }
        if (verdict === 'recorded' && entry.status_code !== null) this.#observer?.onDecision(entry)
        resolve(verdict)
      }
      waiting.refuse = (fault) => {
        clearTimeout(timer)
        reject(fault)
      }
      // What arrives in the same tick of the event loop shares the commit, also when none is under way.
      if (!this.#writing && this.#waiting.length === 1) setImmediate(() => void this.#write())
    })
  }

  /** Adds the outcome to a recorded entry, within a second. */
  conclude(outcome: Outcome): void {
    this.#outcomes.push(outcome)
    this.#observer?.onDecision(outcome)
  }

  /** Entries that wait for their statement, and outcomes that wait to be written. */
  get depth(): { entries: number; outcomes: number } {
    return { entries: this.#waiting.length, outcomes: this.#outcomes.length }
  }

  /** Writes the outcomes that wait. One write at a time; what fails is tried again. */
  flush(): Promise<void> {
    this.#flushing ??= this.#writeOutcomes().finally(() => {
      this.#flushing = undefined
    })
    return this.#flushing
  }

  /** Writes everything that is left, at most `timeoutMs` milliseconds long. */
  async close(timeoutMs: number): Promise<void> {
    clearInterval(this.#timer)
    const deadline = Date.now() + timeoutMs
    do {
      await endsWithin(deadline - Date.now(), this.flush())
      if (this.#isBusy) await Bun.sleep(20)
    } while (this.#isBusy && Date.now() < deadline)
  }

  get #isBusy(): boolean {
    const left = this.#waiting.length + this.#outcomes.length
    return left > 0 || this.#writing || this.#flushing !== undefined
  }

  async #write(): Promise<void> {
    if (this.#writing) return
    this.#writing = true
    while (this.#waiting.length > 0) {
      const group = this.#waiting.take(GROUP_SIZE).filter(({ expired }) => !expired)
      if (group.length > 0) await this.#commit(group)
    }
    this.#writing = false
  }

  /** Waits for one group, but not for ever: a stalled statement must not hold up the next. */
  async #commit(group: readonly Waiting[]): Promise<void> {
    const entries = group.map(({ entry }) => entry)
    const stored = this.#timed('intents', () => insertEntries(this.#sql, entries)).then(
      (ids) => {
        for (const { entry, confirm } of group) confirm(ids.has(entry.id) ? 'recorded' : 'stale')
      },
      (error) => {
        this.#log.error('audit could not be written', {
          entries: group.length,
          ...describeError(error),
        })
        for (const { entry, refuse } of group) {
          refuse(unavailable(error))
          // Only the confirmation may have been lost: then the entry is there, and must say so.
          this.#disown(entry)
        }
      },
    )
    await endsWithin(TIMEOUT_MS, stored)
    for (const { entry } of group) this.#usedTokens.set(entry.token_id, entry.timestamp.getTime())
  }

  #expire(waiting: Waiting): void {
    waiting.expired = true
    waiting.refuse(unavailable())
  }

  /** An entry that was stored after its request had been refused: nothing was sent for it. */
  #disown({ id }: Entry): void {
    this.conclude({
      id,
      decision: 'error',
      reason: 'audit_unavailable',
      status_code: 503,
      duration_ms: TIMEOUT_MS,
      redacted: false,
    })
  }

  async #writeOutcomes(): Promise<void> {
    const outcomes = this.#outcomes.splice(0)
    const used = [...this.#usedTokens].map(([token_id, at]) => ({ token_id, at: new Date(at) }))
    this.#usedTokens.clear()
    const keep = (error: unknown) => {
      this.#outcomes.unshift(...outcomes.slice(0, MAX_WAITING))
      this.#log.warning('audit outcomes wait', {
        outcomes: outcomes.length,
        ...describeError(error),
      })
    }
    try {
      // Written twice is written once; a statement that stalls must not hold up all that follow.
      const written = await endsWithin(TIMEOUT_MS, this.#store(outcomes, used))
      if (!written) keep(unavailable())
    } catch (error) {
      keep(error)
    }
  }

  async #store(outcomes: readonly Outcome[], used: Parameters<typeof stampTokens>[1]) {
    if (outcomes.length > 0)
      await this.#timed('outcomes', () => updateOutcomes(this.#sql, outcomes))
    if (used.length > 0) await stampTokens(this.#sql, used)
  }

  async #timed<T>(kind: 'intents' | 'outcomes', write: () => Promise<T>): Promise<T> {
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

function unavailable(cause?: unknown): Fault {
  return new Fault('audit_unavailable', { cause })
}
