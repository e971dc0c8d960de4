/** Time as an argument, so that tests move it instead of sleeping. Milliseconds since 1970. */
export type Clock = { now(): number }

export const systemClock: Clock = { now: () => Date.now() }
