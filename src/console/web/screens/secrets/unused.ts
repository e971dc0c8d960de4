/** Secrets of a project that no call used in 30 days. */
import { useMemo } from 'react'
import { isNew } from './filters.ts'
import type { Matrix, Project } from './place.ts'

export function useUnused(_place: Project, _matrix: Matrix): ReadonlySet<string> | null {
  return useMemo(() => (isNew.length < 0 ? new Set<string>() : null), [])
}
