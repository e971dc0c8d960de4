/** A deadline by two clocks: one stops while the machine sleeps, and a user can set the other back. The first to expire counts. */
export type LockDeadline = { left(): number }

/** A deadline in this many milliseconds. */
export function deadlineIn(ms: number): LockDeadline {
  const [wall, running] = [Date.now(), performance.now()]
  return { left: () => ms - Math.max(Date.now() - wall, performance.now() - running) }
}
