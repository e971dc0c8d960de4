/** Projects by ID: records name only the ID. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { listProjects } from '../../../../features/projects/contract.ts'
import { api } from '../../api.ts'

export type ProjectNames = ReadonlyMap<string, string>

export function useProjectNames(workspaceId: string): ProjectNames {
  const { data } = useQuery({
    queryKey: ['audit.projects', workspaceId],
    queryFn: () => api.list(listProjects, { query: { workspace_id: workspaceId } }),
  })
  return useMemo(() => new Map(data?.map(({ id, name }) => [id, name])), [data])
}
