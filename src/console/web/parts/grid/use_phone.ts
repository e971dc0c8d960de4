/** Whether the page is as narrow as a phone. */
import { useSyncExternalStore } from 'react'

const phone = matchMedia('(width < 720px)')

export function usePhone(): boolean {
  return useSyncExternalStore(
    (listener) => {
      phone.addEventListener('change', listener)
      return () => phone.removeEventListener('change', listener)
    },
    () => phone.matches,
  )
}
