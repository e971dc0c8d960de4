/** The use of a workspace's secrets, agents and hosts in the last 30 days. */
import { useQuery } from '@tanstack/react-query'
import { getUsage } from '../../features/usage/contract.ts'
import { api } from './api.ts'

const DAYS = 30
const STALE_MS = 60_000

/** Undefined until it is read. */
export function useUsage(workspaceId: string) {
  const { data } = useQuery({
    queryKey: ['usage', workspaceId, DAYS],
    queryFn: () =>
      api.call(getUsage, { params: { workspace_id: workspaceId }, query: { days: DAYS } }),
    staleTime: STALE_MS,
  })
  return data
}
