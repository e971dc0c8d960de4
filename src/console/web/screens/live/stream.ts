/** The calls of a workspace as they happen: what was there, then what comes, over one stream that is opened again. */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { useEffect, useMemo } from 'react'
import type { z } from 'zod'
import { download } from '../../../../client/http/answer.ts'
import { ApiError, urlOf } from '../../../../client/http/api.ts'
import { getMe } from '../../../../features/accounts/contract.ts'
import { auditRecord, listAuditLogs, watchAudit } from '../../../../features/audit/contract.ts'
import { api } from '../../api.ts'
import { failureFrom } from '../../keys/failure.ts'
import { shared } from '../../shared.ts'

export type LiveCall = z.output<typeof auditRecord>

export type LiveState = {
  /** Newest first. */
  calls: readonly LiveCall[]
  state: 'opening' | 'open' | 'waiting' | 'ended'
  /** Why it ended, or waits. */
  code: string | null
  /** Something was missed. */
  isGap: boolean
}

/** That are kept, and shown. */
const MOST = 500
const FIRST = 50
/** Milliseconds until it is tried again, longer each time. */
const PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 15_000
/** No other try would be answered in another way. */
const FINAL = ['forbidden', 'not_found', 'session_ended', 'rate_limited']

/** What is there, and what comes as long as a component shows it. */
export function useLiveCalls(workspaceId: string): LiveState {
  const live = useMemo(() => new LiveFeed(workspaceId), [workspaceId])
  useEffect(() => {
    const ended = new AbortController()
    void live.run(ended.signal)
    return () => ended.abort()
  }, [live])
  return live.state.useValue()
}

class LiveFeed {
  readonly state = shared<LiveState>({ calls: [], state: 'opening', code: null, isGap: false })
  readonly #workspaceId: string
  #known = new Map<string, LiveCall>()
  #lastId: string | null = null

  constructor(workspaceId: string) {
    this.#workspaceId = workspaceId
  }

  /** Until the signal ends it. */
  async run(signal: AbortSignal): Promise<void> {
    for (let pause = PAUSE_MS; !signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const { code, wasOpen } = await this.#read(signal)
      if (signal.aborted) return
      const isFinal = FINAL.includes(code)
      this.#become({ state: isFinal ? 'ended' : 'waiting', code })
      if (isFinal) return
      if (wasOpen) pause = PAUSE_MS
      await paused(pause, signal)
    }
  }

  /** Why it stopped. */
  async #read(signal: AbortSignal): Promise<{ code: string; wasOpen: boolean }> {
    let wasOpen = false
    let code = 'unreachable'
    try {
      if (this.#lastId === null) await this.#readFirst()
      const heard: LiveCall[] = []
      const parser = createParser({
        onEvent: (event) => {
          code = this.#hear(event, heard) ?? code
        },
      })
      const decoder = new TextDecoder()
      for await (const bytes of this.#stream(signal)) {
        if (!wasOpen) this.#become({ state: 'open', code: null })
        wasOpen = true
        parser.feed(decoder.decode(bytes, { stream: true }))
        // Once for all that came together, however many these are.
        if (heard.length > 0) this.#show(heard.splice(0))
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
    const query = { workspace_id: this.#workspaceId, limit: FIRST }
    this.#show(await api.call(listAuditLogs, { query }))
  }

  /** A session whose tokens have expired is renewed by any call of it. */
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

  /** Returns why the stream ends, where it says so. */
  #hear({ event, id, data }: EventSourceMessage, heard: LiveCall[]): string | null {
    if (event === 'gap') this.#become({ isGap: true })
    if (event === 'end') return String(Reflect.get(Object(JSON.parse(data)), 'error_code'))
    if (event !== undefined) return null
    const { success, data: call } = auditRecord.safeParse(JSON.parse(data))
    if (id !== undefined) this.#lastId = id
    if (success) heard.push(call)
    return null
  }

  /** A call that was under way comes again with its outcome. */
  #show(calls: readonly LiveCall[]): void {
    for (const call of calls) this.#known.set(call.id, call)
    // Ids grow with time.
    const newest = [...this.#known.values()].sort((one, other) => (one.id < other.id ? 1 : -1))
    const kept = newest.slice(0, MOST)
    this.#known = new Map(kept.map((call) => [call.id, call]))
    this.#become({ calls: kept })
  }

  #become(changed: Partial<LiveState>): void {
    this.state.set({ ...this.state.get(), ...changed })
  }
}

function paused(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    resolve()
  })
  return promise
}
