/** The amount of work in a test: little in `bun run test`, much in `bun run test:all`. */
import { isWhole } from './sample.ts'

export function effort<Amount>(little: Amount, much: Amount): Amount {
  return isWhole ? much : little
}
