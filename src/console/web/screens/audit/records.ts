/** Records of the audit log, page by page, as the list is scrolled to its end. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getAuditLog, listAuditLogs } from '../../../../features/audit/contract.ts'
import { api } from '../../api.ts'
import { recordFilters } from './filters.ts'
import type { ListedRecord } from './groups.ts'
import type { AuditFilters } from './search.ts'

const PAGE = 500

export function useRecords(workspaceId: string, filters: AuditFilters) {
  const asked = recordFilters(workspaceId, filters)
  const order = filters.order === 'oldest' ? ('oldest' as const) : ('newest' as const)
  return useInfiniteQuery({
    queryKey: ['audit', asked, order],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor }) => {
      const query = { ...asked, limit: PAGE, order }
      return api.page(listAuditLogs, { query: cursor ? { ...query, cursor } : query })
    },
    getNextPageParam: ({ next }) => next,
    select: recordsOf,
    // It would read all pages of a long list again.
    refetchOnWindowFocus: false,
    // Coming back starts at the first page.
    gcTime: 0,
  })
}

/** Defined outside the component, so that equal pages give the same list. */
function recordsOf({ pages }: { pages: readonly { data: ListedRecord[] }[] }): ListedRecord[] {
  return pages.flatMap(({ data }) => data)
}

/** One record that the list does not have, such as one that a link names. */
export function useRecord(workspaceId: string, id: string, isOn: boolean) {
  return useQuery({
    queryKey: ['audit.record', workspaceId, id],
    queryFn: () =>
      api.call(getAuditLog, { params: { log_id: id }, query: { workspace_id: workspaceId } }),
    enabled: isOn,
  })
}
