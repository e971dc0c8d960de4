/** How much each agent was used lately. */
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { getUsage } from '../../../../features/usage/contract.ts'
import { api } from '../../api.ts'

const DAYS = 30
const WEEK = 7
const STALE_MS = 60_000

type Usage = z.output<typeof getUsage.result>
export type Use = { days: readonly string[]; calls: readonly number[]; refused: readonly number[] }

/** Undefined until it is read. */
export function useUsage(workspaceId: string): Usage | undefined {
  const { data } = useQuery({
    queryKey: ['usage', workspaceId, DAYS],
    queryFn: () =>
      api.call(getUsage, { params: { workspace_id: workspaceId }, query: { days: DAYS } }),
    staleTime: STALE_MS,
  })
  return data
}

/** The last 7 days of an agent; zeros if it made no call. */
export function agentUse(usage: Usage | undefined, find: { id: string } | { name: string }): Use {
  const days = (usage?.days ?? []).slice(-WEEK)
  const found = usage?.agents.find((one) =>
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
