/** A value of the page that several components show. */
import { useSyncExternalStore } from 'react'

export function createShared<T>(first: T) {
  let value = first
  const listeners = new Set<() => void>()
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const get = () => value
  const set = (next: T) => {
    value = next
    for (const listener of listeners) listener()
  }
  return { get, set, subscribe, useValue: () => useSyncExternalStore(subscribe, get) }
}
