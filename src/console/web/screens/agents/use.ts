/** The recent use of each agent. */
import type { useUsage } from '../../usage.ts'

const WEEK = 7

type Usage = NonNullable<ReturnType<typeof useUsage>>
export type Use = { days: readonly string[]; calls: readonly number[]; refused: readonly number[] }

/** The last 7 days of an agent; zeros if it made no call. */
export function agentUse(usage: Usage, find: { id: string } | { name: string }): Use {
  const days = usage.days.slice(-WEEK)
  const found = usage.agents.find((one) =>
    'id' in find
      ? one.registration_id === find.id
      : one.registration_id === null && one.agent_id === find.name,
  )
  const none = days.map(() => 0)
  return {
    days,
    calls: found?.calls.slice(-WEEK) ?? none,
    refused: found?.blocked.slice(-WEEK) ?? none,
  }
}

export const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)
