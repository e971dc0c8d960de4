/** Time that runs out by the clock that says so first: one stands still while a machine sleeps, the other can be put back. */
export type LockDeadline = { left(): number }

/** In milliseconds. */
export function deadlineIn(ms: number): LockDeadline {
  const [wall, running] = [Date.now(), performance.now()]
  return { left: () => ms - Math.max(Date.now() - wall, performance.now() - running) }
}
