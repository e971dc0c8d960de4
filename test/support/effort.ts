/**
 * How much of something a test does: little in every run, much in `bun run test:long`, which CI runs too
 * and which consists of the files that ask here.
 */
const isLong = process.env.TEST_EFFORT === 'long'

export function effort<Amount>(little: Amount, much: Amount): Amount {
  return isLong ? much : little
}
