import { endsWithin } from '../../core/async/timeout.ts'
import { type Route, route } from '../../http/route.ts'
import type { FeatureServices } from '../../http/services.ts'
import { getUsage } from './contract.ts'
import { usageOf } from './count.ts'

/** Milliseconds that records get to be written before they are read; a full disk holds up no read. */
const FLUSH_MS = 1_000

/** `flush` writes what this process still holds, so that a person sees what they just did. */
export function usageRoutes({ clock }: FeatureServices, flush: () => Promise<void>): Route[] {
  const usage = route(getUsage, ({ tx, grant, query: { days } }) =>
    usageOf(tx, grant, { days, now: clock.now() }),
  )
  const prepare = async () => {
    await endsWithin(FLUSH_MS, flush())
  }
  return [{ ...usage, prepare }]
}
