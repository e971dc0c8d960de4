/**
 * Exhaustive tests check everything in `bun run test:all`, on the main database, and a random tenth in `bun run
 * test` and on the other database. The seed is printed. To repeat a run: `TEST_SEED=… bun run test <word>`.
 */
export const isWhole = process.env.TEST_TIER === 'all'
const isSampled = !isWhole || process.env.TEST_IS_OTHER_DATABASE === 'true'

/** The runner passes one seed to all its processes and prints it. */
const seed = process.env.TEST_SEED ?? randomSeed()

/**
 * One of `share` cases, at least one, in their order. The choice depends only on the seed, the name
 * and the cases, so it is the same whichever other files run. Build what a case needs when it runs, not
 * before: most cases are left out.
 *
 * @param name unique in the tests, such as 'role matrix'
 */
export function sample<Case>(name: string, cases: readonly Case[], share = 10): Case[] {
  if (!isSampled) return [...cases]
  const size = Math.ceil(cases.length / share)
  const ranked = cases.map((_, index) => ({ index, rank: Bun.hash(`${seed}/${name}/${index}`) }))
  ranked.sort((one, other) => (one.rank < other.rank ? -1 : 1))
  const chosen = new Set(ranked.slice(0, size).map(({ index }) => index))
  return cases.filter((_, index) => chosen.has(index))
}

function randomSeed(): string {
  const made = Math.floor(Math.random() * 1_000_000).toString()
  if (!isWhole) process.stderr.write(`Sampled tests: TEST_SEED=${made}\n`)
  return made
}
