/** A clock that tests move, and the code with which an action is rejected. */
import { Fault } from '../../src/core/fault.ts'

export function movable() {
  let time = 1_000_000
  return {
    now: () => time,
    advance: (ms: number) => {
      time += ms
    },
  }
}

export function refusalOf(action: () => unknown): Fault | null {
  try {
    action()
    return null
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}
