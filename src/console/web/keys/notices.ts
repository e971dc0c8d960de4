/** What the worker has noticed of workspaces, until the person has read it; nothing of it outlasts the keys. */
import { useSyncExternalStore } from 'react'
import type { WorkspaceNotice } from './reports.ts'

let notices: readonly WorkspaceNotice[] = []
const listeners = new Set<() => void>()

function become(next: readonly WorkspaceNotice[]): void {
  notices = next
  for (const listener of listeners) listener()
}

/** Null takes all of them away. */
export function addNotice(notice: WorkspaceNotice | null): void {
  if (notice === null) {
    become([])
    return
  }
  const text = JSON.stringify(notice)
  if (!notices.some((each) => JSON.stringify(each) === text)) become([...notices, notice])
}

export function dismissNotice(notice: WorkspaceNotice): void {
  become(notices.filter((each) => each !== notice))
}

export function useNotices(): readonly WorkspaceNotice[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => notices,
  )
}
