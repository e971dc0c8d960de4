/** Follows a workspace's calls: reads the newest, then a stream that reconnects by itself. */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { useEffect, useMemo } from 'react'
import type { z } from 'zod'
import { download } from '../../../../client/http/answer.ts'
import { ApiError, urlOf } from '../../../../client/http/api.ts'
import { getMe } from '../../../../features/accounts/contract.ts'
import { auditRecord, listAuditLogs, watchAudit } from '../../../../features/audit/contract.ts'
import { api } from '../../api.ts'
import { failureFrom } from '../../keys/failure.ts'
import { createShared } from '../../shared.ts'

export type LiveCall = z.output<typeof auditRecord>

export type LiveFeedState = {
  /** Newest first. */
  calls: readonly LiveCall[]
  /** The newest calls were read once. */
  isRead: boolean
  state: 'opening' | 'open' | 'waiting' | 'ended'
  /** Why it ended or reconnects. */
  code: string | null
  /** Some calls were missed. */
  isGap: boolean
}

/** Calls that are kept. */
export const MAX_KEPT = 500
/** Calls of each decision that are read first. Changes would take their places in one list of everything. */
const MAX_FIRST = 200
const DECISIONS = ['allowed', 'blocked', 'error'] as const
/** Milliseconds until the first retry. Each retry waits twice as long. */
const PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 15_000
/** A retry would have the same result. */
const FINAL = ['forbidden', 'not_found', 'session_ended', 'rate_limited']

/** The newest calls, and new ones while a component is shown. */
export function useLiveCalls(workspaceId: string): LiveFeedState {
  const live = useMemo(() => new LiveFeed(workspaceId), [workspaceId])
  useEffect(() => {
    const ended = new AbortController()
    void live.run(ended.signal)
    return () => ended.abort()
  }, [live])
  return live.state.useValue()
}

class LiveFeed {
  readonly state = createShared<LiveFeedState>({
    ...{ calls: [], isRead: false, isGap: false },
    ...{ state: 'opening', code: null },
  })
  readonly #workspaceId: string
  #known = new Map<string, LiveCall>()
  #lastId: string | null = null

  constructor(workspaceId: string) {
    this.#workspaceId = workspaceId
  }

  /** Reads until the signal ends it. */
  async run(signal: AbortSignal): Promise<void> {
    for (let pause = PAUSE_MS; !signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const { code, wasOpen } = await this.#read(signal)
      if (signal.aborted) return
      const isFinal = FINAL.includes(code)
      this.#update({ state: isFinal ? 'ended' : 'waiting', code })
      if (isFinal) return
      if (wasOpen) pause = PAUSE_MS
      await pauseFor(pause, signal)
    }
  }

  /** Reads one connection. Returns why it ended. */
  async #read(signal: AbortSignal): Promise<{ code: string; wasOpen: boolean }> {
    let wasOpen = false
    let code = 'unreachable'
    try {
      if (this.#lastId === null) await this.#readFirst()
      const received: LiveCall[] = []
      const parser = createParser({
        onEvent: (event) => {
          code = this.#onEvent(event, received) ?? code
        },
      })
      const decoder = new TextDecoder()
      for await (const bytes of this.#stream(signal)) {
        if (!wasOpen) this.#update({ state: 'open', code: null })
        wasOpen = true
        parser.feed(decoder.decode(bytes, { stream: true }))
        // One update for all calls that came together.
        if (received.length > 0) this.#add(received.splice(0))
      }
    } catch (error) {
      code = await this.#codeOf(error)
    }
    return { code, wasOpen }
  }

  #stream(signal: AbortSignal) {
    const params = { workspace_id: this.#workspaceId }
    const headers = this.#lastId === null ? {} : { 'last-event-id': this.#lastId }
    return download(watchAudit, urlOf(location.origin, watchAudit, { params }), { headers, signal })
  }

  async #readFirst(): Promise<void> {
    const query = { workspace_id: this.#workspaceId, limit: MAX_FIRST }
    const lists = DECISIONS.map((decision) =>
      api.call(listAuditLogs, { query: { ...query, decision } }),
    )
    this.#add((await Promise.all(lists)).flat())
  }

  /** Any call renews a session whose tokens have expired. */
  async #codeOf(error: unknown): Promise<string> {
    const { code } = failureFrom(error)
    if (!(error instanceof ApiError) || code !== 'invalid_token') return code
    try {
      await api.call(getMe, {})
      return 'unreachable'
    } catch (second) {
      return failureFrom(second).code === 'invalid_token' ? 'session_ended' : code
    }
  }

  /** Returns why the stream ends, if the event has a reason. */
  #onEvent({ event, id, data }: EventSourceMessage, received: LiveCall[]): string | null {
    if (event === 'gap') this.#update({ isGap: true })
    if (event === 'end') return String(Reflect.get(Object(JSON.parse(data)), 'error_code'))
    if (event !== undefined) return null
    const { success, data: call } = auditRecord.safeParse(JSON.parse(data))
    if (id !== undefined) this.#lastId = id
    if (success) received.push(call)
    return null
  }

  /** A call that was pending is sent again with its outcome. */
  #add(calls: readonly LiveCall[]): void {
    for (const call of calls) this.#known.set(call.id, call)
    // IDs grow with time.
    const newest = [...this.#known.values()].sort((one, other) => (one.id < other.id ? 1 : -1))
    const kept = newest.slice(0, MAX_KEPT)
    this.#known = new Map(kept.map((call) => [call.id, call]))
    this.#update({ calls: kept, isRead: true })
  }

  #update(changed: Partial<LiveFeedState>): void {
    this.state.set({ ...this.state.get(), ...changed })
  }
}

function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    resolve()
  })
  return promise
}
