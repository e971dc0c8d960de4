/** The time between "stop" and the end of accepting: balancers see in the health that they shall turn away. */
import type { Config } from '../platform/config/config.ts'
import { systemTimers } from '../platform/timers.ts'

export type Drain = {
  isStopping(): boolean
  /** Returns after DRAIN_SECONDS. */
  beginStop(): Promise<void>
}

export function openDrain(
  { DRAIN_SECONDS }: Pick<Config, 'DRAIN_SECONDS'>,
  timers = systemTimers,
): Drain {
  let isStopping = false
  return {
    isStopping: () => isStopping,
    beginStop: async () => {
      isStopping = true
      await timers.sleep(DRAIN_SECONDS * 1000)
    },
  }
}
