/**
 * Sends queued notices, in every process with a resolver: only those have internet access (docs/guides/notices.md).
 * Several processes share the queue. A notice has an id, because it may arrive twice after a crash.
 */
import type { PendingTimer, Timers } from '../core/async/timers.ts'
import type { Clock } from '../core/clock.ts'
import type { Config } from '../core/config/config.ts'
import type { OuterLayer } from '../core/crypto/outer_layer.ts'
import { Fault } from '../core/fault.ts'
import { describeError, type Log } from '../core/log.ts'
import type { Bus } from '../database/notify.ts'
import type { Reading } from '../database/open.ts'
import {
  type PostAnswer,
  type PostOutbound,
  preparePost,
  readAtMost,
} from '../outbound/connection/post_request.ts'
import { requestOf } from './formats.ts'
import { readFields } from './message.ts'
import { type Notices, QUEUED_NOTICES } from './notices.ts'
import {
  type Claimed,
  claimDue,
  delayAfter,
  markDelivered,
  markFailed,
  markRetry,
  readRetryAfter,
} from './queue.ts'
import { openTarget, type TargetSecret } from './target.ts'

/** Notices that a process sends at a time; one per target. */
const AT_ONCE = 8
/** Milliseconds in which the transaction of queued notices commits. */
const WAKE_MS = 250
const EVERY_MS = 15_000
/** Bytes that are read of an answer; more ends the connection. */
const MAX_ANSWER_BYTES = 65_536

type Parts = {
  db: Reading
  outer: OuterLayer
  outbound: PostOutbound
  config: Pick<Config, 'SERVICE_SERVER_URL'>
  clock: Clock
  timers: Timers
  log: Log
}

/** The end of an attempt: `error` is null for a delivered notice. */
type Outcome = { error: string | null; isFinal?: boolean; retryAfterS?: number | null }

export class NoticeSender {
  readonly #parts: Parts
  readonly #busy = new Map<string, Promise<void>>()
  readonly #timer: PendingTimer
  #wake: PendingTimer | null = null
  #looking: Promise<void> | null = null
  #isAskedAgain = false
  #isClosed = false

  constructor(parts: Parts, notices: Notices, bus: Bus) {
    this.#parts = parts
    const wake = () => this.#wakeSoon()
    notices.onQueued(wake)
    bus.subscribe(QUEUED_NOTICES, { onNotice: wake, onGap: wake })
    this.#timer = parts.timers.setRepeating(EVERY_MS, () => this.#lookNow())
  }

  /** Resolves when nothing is being sent. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer.cancel()
    this.#wake?.cancel()
    await this.#looking
    await Promise.all(this.#busy.values())
  }

  #wakeSoon(): void {
    if (this.#wake !== null || this.#isClosed) return
    const wake = () => {
      this.#wake = null
      this.#lookNow()
    }
    this.#wake = this.#parts.timers.setTimer(WAKE_MS, wake, { isBackground: true })
  }

  /** One statement at a time, so that they do not pile up on a slow database. */
  #lookNow(): void {
    if (this.#isClosed) return
    this.#isAskedAgain = this.#looking !== null
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null
      if (this.#isAskedAgain) this.#lookNow()
    })
  }

  async #look(): Promise<void> {
    const { db, log } = this.#parts
    const most = AT_ONCE - this.#busy.size
    if (most <= 0) return
    try {
      const claimed = await claimDue(db, { most, busy: [...this.#busy.keys()] })
      for (const notice of claimed) this.#start(notice)
    } catch (error) {
      log.warning('queued notices could not be read', describeError(error))
    }
  }

  #start(notice: Claimed): void {
    const sending = this.#deliver(notice)
      .catch((error) => {
        const { id } = notice
        this.#parts.log.warning('a notice status was not stored', { id, ...describeError(error) })
      })
      .finally(() => {
        this.#busy.delete(notice.target_id)
        this.#lookNow()
      })
    this.#busy.set(notice.target_id, sending)
  }

  async #deliver(notice: Claimed): Promise<void> {
    const { db, outer } = this.#parts
    const { id, workspace_id: workspaceId, target_id: targetId, type } = notice
    const target = await openTarget(outer, { workspaceId, targetId, type }, notice.secret)
    if (target === null) return markFailed(db, id, 'unreadable_target')
    const { error, isFinal, retryAfterS = null } = await this.#send(notice, target)
    if (error === null) return markDelivered(db, id)
    if (isFinal) return markFailed(db, id, error)
    await markRetry(db, { id, targetId, error, delayS: delayAfter(notice.attempts, retryAfterS) })
  }

  async #send(notice: Claimed, target: TargetSecret): Promise<Outcome> {
    const { outbound, config, clock } = this.#parts
    const owner = { workspaceId: notice.workspace_id, tokenId: notice.target_id }
    const request = requestOf(target, {
      notice: storedOf(notice),
      serverUrl: config.SERVICE_SERVER_URL,
      now: notice.attempted_at,
    })
    try {
      const prepared = await preparePost(outbound, owner, request, skipBody)
      return outcomeOf(target, await prepared.send(), clock.now())
    } catch (error) {
      return { error: error instanceof Fault ? error.code : 'internal_error' }
    }
  }
}

function storedOf(claimed: Claimed) {
  return {
    id: claimed.id,
    event: claimed.event,
    workspace: { id: claimed.workspace_id, name: claimed.workspace_name },
    createdAt: new Date(claimed.created_at),
    fields: readFields(claimed.body),
  }
}

/** 410 is final. Slack and Discord return 404 for a deleted webhook. */
function outcomeOf({ type }: TargetSecret, { status, headers }: PostAnswer, now: number): Outcome {
  if (status >= 200 && status < 300) return { error: null }
  const isDeleted = status === 404 && (type === 'slack' || type === 'discord')
  return {
    error: `http_${status}`,
    isFinal: status === 410 || isDeleted,
    retryAfterS: readRetryAfter(headers.get('retry-after'), now),
  }
}

/** Only the status counts, even if the body is too long, too slow or cut off. The body is neither kept nor shown. */
async function skipBody(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  await readAtMost(body, MAX_ANSWER_BYTES).catch(() => {})
  return new Uint8Array()
}
