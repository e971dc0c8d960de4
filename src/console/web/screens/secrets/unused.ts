/** The use of secrets in the last 30 days. */
import { useMemo } from 'react'
import { useUsage } from '../../usage.ts'
import { isNew } from './filters.ts'
import type { Matrix, Project } from './place.ts'

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
