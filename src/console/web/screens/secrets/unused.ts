/** The use of secrets in the last 30 days. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { getUsage } from '../../../../features/usage/contract.ts'
import { api } from '../../api.ts'
import { isNew } from './filters.ts'
import type { Matrix, Project } from './place.ts'

const DAYS = 30
const STALE_MS = 60_000

/** What agents used in the workspace, by secret and day. */
export function useUsage(workspaceId: string) {
  const { data } = useQuery({
    queryKey: ['usage', workspaceId, DAYS],
    queryFn: () =>
      api.call(getUsage, { params: { workspace_id: workspaceId }, query: { days: DAYS } }),
    staleTime: STALE_MS,
  })
  return data
}

/** Secrets that no call used. Null until the use is known, or if it is not known completely. */
export function useUnused({ workspaceId, projectId }: Project, { rows }: Matrix) {
  const data = useUsage(workspaceId)
  return useMemo((): ReadonlySet<string> | null => {
    if (!data?.is_whole) return null
    const ofProject = data.secrets.filter((use) => use.project_id === projectId)
    const used = new Set(ofProject.map(({ credential_ref }) => credential_ref))
    const unused = rows.filter((row) => !used.has(row.key) && !isNew(row))
    return new Set(unused.map(({ key }) => key))
  }, [data, projectId, rows])
}
