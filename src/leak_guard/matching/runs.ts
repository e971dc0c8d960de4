/** Runs of the characters that fragments consist of, searched for in steps. */
import { FRAGMENT } from './guarded.ts'

export const RUN = /[A-Za-z0-9+/_=.~-]{16,}/g
/** Bytes of one step. */
const SEARCHED_AT_ONCE = 65_536

/** Windows that stand in the runs of these texts. */
export function* countWindows(stretches: readonly string[]): Generator<void, number> {
  const isTimeAfter = pacer()
  let count = 0
  for (const stretch of stretches) {
    for (const [run] of stretch.matchAll(RUN)) count += Math.ceil(run.length / FRAGMENT)
    if (isTimeAfter(stretch.length)) yield
  }
  return count
}

/** Whether a step is over, told after each part of the work. */
export function pacer(): (cost: number) => boolean {
  let done = 0
  return (cost) => {
    done += cost
    if (done < SEARCHED_AT_ONCE) return false
    done = 0
    return true
  }
}
