/** Which token was made here, by its id: its text stays with the worker of the keys until somebody asks for it. */
import { useSyncExternalStore } from 'react'

const made = new Map<string, string>()
const listeners = new Set<() => void>()

export function keepMade(workspaceId: string, id: string): void {
  made.set(workspaceId, id)
  for (const listener of listeners) listener()
}

export function useMade(workspaceId: string): string | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => made.get(workspaceId) ?? null,
  )
}
