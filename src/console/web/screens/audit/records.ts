/** Records of the audit, a page after the other, as the table comes to its end. */
import { useInfiniteQuery } from '@tanstack/react-query'
import type { CallResult } from '../../../../client/http/api.ts'
import { listAuditLogs } from '../../../../features/audit/contract.ts'
import { api } from '../../api.ts'

export type ListedRecord = CallResult<typeof listAuditLogs>[number]

/** As they are in the address of the page. */
export type AuditFilters = {
  actor?: string
  domain?: string
  credential?: string
  action?: string
  environment?: string
  since?: string
  until?: string
  /** The newest first, unless said. */
  order?: 'oldest'
}

const PAGE = 500

/** As the server names them, without the order. */
export function recordFilters(workspaceId: string, { actor, order: _, ...filters }: AuditFilters) {
  return { workspace_id: workspaceId, ...filters, ...(actor ? { agent_id: actor } : {}) }
}

export function useRecords(workspaceId: string, filters: AuditFilters) {
  return useInfiniteQuery({
    queryKey: ['audit', workspaceId, filters],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor }) => {
      const order = filters.order ?? ('newest' as const)
      const query = { ...recordFilters(workspaceId, filters), limit: PAGE, order }
      return api.page(listAuditLogs, { query: cursor ? { ...query, cursor } : query })
    },
    getNextPageParam: ({ next }) => next,
    select: recordsOf,
    // All pages of a long list would be read again.
    refetchOnWindowFocus: false,
    // Who comes back begins at its first page.
    gcTime: 0,
  })
}

/** By itself, so that the same pages are the same list. */
function recordsOf({ pages }: { pages: readonly { data: ListedRecord[] }[] }): ListedRecord[] {
  return pages.flatMap(({ data }) => data)
}
