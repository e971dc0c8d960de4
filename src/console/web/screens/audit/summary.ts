/** Counts of the audit log: for the chart, and without filters for what a search suggests. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { summariseAudit } from '../../../../features/audit/contract.ts'
import { api } from '../../api.ts'
import { recordFilters } from './filters.ts'
import type { AuditFilters } from './search.ts'

const NAMES_STALE_MS = 60_000

export function useSummary(workspaceId: string, filters: AuditFilters) {
  const query = recordFilters(workspaceId, filters)
  return useQuery({
    queryKey: ['audit.summary', query],
    queryFn: () => api.call(summariseAudit, { query }),
    placeholderData: keepPreviousData,
  })
}

/** Agents, hosts and secrets of all calls, the most frequent first. */
export function useNames(workspaceId: string) {
  return useQuery({
    queryKey: ['audit.names', workspaceId],
    queryFn: async () => {
      const { by_agent, by_domain, by_credential } = await api.call(summariseAudit, {
        query: { workspace_id: workspaceId },
      })
      return {
        actor: by_agent.map(({ agent_id }) => agent_id).filter(Boolean),
        domain: by_domain.map(({ domain }) => domain),
        credential: by_credential.map(({ credential_ref }) => credential_ref),
      }
    },
    staleTime: NAMES_STALE_MS,
  }).data
}
