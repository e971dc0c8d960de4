/** Randomness that a seed repeats (mulberry32), so that a failed round can be reproduced. */
export type Random = { seed: number; between(low: number, high: number): number }

export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { seed, between: (low, high) => Math.floor(low + next() * (high - low + 1)) }
}

/** FAULTS_SEED repeats a run of the suite; a failure prints it. */
export function seedOf(text: string | undefined = process.env.FAULTS_SEED): number {
  return text === undefined ? (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) : Number(text)
}
