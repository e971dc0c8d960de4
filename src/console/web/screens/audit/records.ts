/** Records of the audit, a page after the other, as the table comes to its end. */
import { useInfiniteQuery } from '@tanstack/react-query'
import type { CallResult } from '../../../../client/http/api.ts'
import { listAuditLogs } from '../../../../features/audit/contract.ts'
import { api } from '../../api.ts'

export type AuditRecord = CallResult<typeof listAuditLogs>[number]

/** As they are in the address of the page. */
export type AuditFilters = {
  actor?: string
  domain?: string
  credential?: string
  action?: string
  environment?: string
  since?: string
  until?: string
}

const PAGE = 500

/** As the server names them. */
export function queryOf(workspaceId: string, { actor, ...filters }: AuditFilters) {
  return { workspace_id: workspaceId, ...filters, ...(actor ? { agent_id: actor } : {}) }
}

export function useRecords(workspaceId: string, filters: AuditFilters) {
  return useInfiniteQuery({
    queryKey: ['audit', workspaceId, filters],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor }) => {
      const query = { ...queryOf(workspaceId, filters), limit: PAGE }
      return api.page(listAuditLogs, { query: cursor ? { ...query, cursor } : query })
    },
    getNextPageParam: ({ next }) => next,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
    // All pages of a long list would be read anew.
    refetchOnWindowFocus: false,
  })
}
