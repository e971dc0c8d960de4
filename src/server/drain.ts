/** The time between "stop" and the end of accepting: balancers see in the health that they shall turn away. */

import { systemTimers } from '../core/async/timers.ts'
import type { Config } from '../core/config/config.ts'

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
