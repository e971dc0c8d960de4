/** Figures of the last hour's calls, counted here, or by the server if it had more calls than are kept. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { summariseAudit } from '../../../../features/audit/contract.ts'
import { api } from '../../api.ts'
import type { Bar } from './histogram.tsx'
import { type LiveCall, type LiveFeedState, MAX_KEPT } from './stream.ts'
import { isCall } from './words.ts'

const HOUR_MS = 3_600_000
/** Bars of the histogram, each of the same time. */
const BARS = 22
const EVERY_MS = 10_000

export type LastHour = {
  /** Null until the calls are read. */
  figures: {
    calls: number
    allowed: number
    refused: number
    /** Milliseconds, null without a call that was answered. */
    median: number | null
  } | null
  /** Oldest first. */
  bars: readonly Bar[]
}

export function useLastHour(workspaceId: string, { calls: all, isRead }: LiveFeedState): LastHour {
  const now = useNow()
  const calls = all.filter((call) => isCall(call) && now - Date.parse(call.timestamp) < HOUR_MS)
  const oldest = all.at(-1)
  const isCut = all.length >= MAX_KEPT && now - Date.parse(oldest?.timestamp ?? '') < HOUR_MS
  const { data } = useQuery({
    queryKey: ['live.summary', workspaceId],
    queryFn: () => api.call(summariseAudit, { query: { workspace_id: workspaceId, since: '1h' } }),
    enabled: isCut,
    refetchInterval: EVERY_MS,
  })
  const counted = isCut ? data?.totals : undefined
  const refused = calls.filter(({ decision }) => decision === 'blocked').length
  const allowed = calls.filter(({ decision }) => decision === 'allowed').length
  const figures = {
    calls: counted?.requests ?? calls.length,
    allowed: counted?.allowed ?? allowed,
    refused: counted?.blocked ?? refused,
    median: medianOf(
      calls.flatMap(({ decision, duration_ms: ms }) => (decision === 'allowed' ? (ms ?? []) : [])),
    ),
  }
  return { figures: isRead ? figures : null, bars: barsOf(calls, now) }
}

/** The time, again every few seconds. */
function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}

function medianOf(values: number[]): number | null {
  const sorted = values.sort((one, other) => one - other)
  return sorted[sorted.length >> 1] ?? null
}

function barsOf(calls: readonly LiveCall[], now: number): Bar[] {
  const bars = Array.from({ length: BARS }, () => ({ passed: 0, refused: 0 }))
  for (const { timestamp, decision } of calls) {
    const age = Math.max(0, now - Date.parse(timestamp))
    const bar = bars[BARS - 1 - Math.min(BARS - 1, Math.floor((age / HOUR_MS) * BARS))]
    if (bar) bar[decision === 'blocked' ? 'refused' : 'passed'] += 1
  }
  return bars
}
