/** The worker's notices about workspaces, until the user dismisses them or the keys lock. */
import { createShared } from '../shared.ts'
import type { WorkspaceNotice } from './reports.ts'

const notices = createShared<readonly WorkspaceNotice[]>([])
export const useNotices = notices.useValue

/** Null removes all notices. */
export function addNotice(notice: WorkspaceNotice | null): void {
  if (notice === null) {
    notices.set([])
    return
  }
  const text = JSON.stringify(notice)
  const before = notices.get()
  if (!before.some((each) => JSON.stringify(each) === text)) notices.set([...before, notice])
}

export function dismissNotice(notice: WorkspaceNotice): void {
  notices.set(notices.get().filter((each) => each !== notice))
}
