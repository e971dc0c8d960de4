/** The recovery key of an account that was just made: in memory until the person has kept it, and shown before all else. */
import { useSyncExternalStore } from 'react'

let shown: string | null = null
const listeners = new Set<() => void>()

export function offerRecoveryKey(key: string | null): void {
  shown = key
  for (const listener of listeners) listener()
}

export function useRecoveryKey(): string | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => shown,
  )
}
