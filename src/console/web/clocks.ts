/** A clock that is wrong here or at the server: expiries are then not what they seem. */
import { useSyncExternalStore } from 'react'
import { clockSentence } from '../../client/http/clock_difference.ts'
import { clockDifference, onClockDifference } from '../../client/http/transport.browser.ts'

/** A sentence with both times; null while the clocks agree. */
export function useClockSentence(): string | null {
  const difference = useSyncExternalStore(onClockDifference, clockDifference)
  return difference && clockSentence(difference)
}
