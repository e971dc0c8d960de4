/** What the worker has noticed of workspaces, until the person has read it; nothing of it outlasts the keys. */
import { useSyncExternalStore } from 'react'
import type { Notice } from './reports.ts'

let notices: readonly Notice[] = []
const listeners = new Set<() => void>()

function become(next: readonly Notice[]): void {
  notices = next
  for (const listener of listeners) listener()
}

/** Null takes all of them away. */
export function addNotice(notice: Notice | null): void {
  if (notice === null) {
    become([])
    return
  }
  const text = JSON.stringify(notice)
  if (!notices.some((each) => JSON.stringify(each) === text)) become([...notices, notice])
}

export function dismissNotice(notice: Notice): void {
  become(notices.filter((each) => each !== notice))
}

export function useNotices(): readonly Notice[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => notices,
  )
}
