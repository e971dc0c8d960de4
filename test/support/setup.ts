/**
 * Runs around every `bun test`, and in the suite around every file: no cluster and no executable stays behind, and
 * the canary reports last.
 */
import { afterAll, setDefaultTimeout } from 'bun:test'
import { reportSearched, takeLeaks } from './canary.ts'
import { stopCluster } from './database.ts'
import { removePlaces } from './places.ts'
import { outputSearched, watchAnswers } from './watched.ts'

/** Given by the suite's runner to this process only: the file for the searched places. */
const searchedPlace = process.env.CANARY_SEARCHED
delete process.env.CANARY_SEARCHED

/** Milliseconds: slow CI machines need them, and a hung test still fails. Set first, because it applies to later hooks. */
setDefaultTimeout(180_000)

globalThis.fetch = watchAnswers(globalThis.fetch)

afterAll(stopCluster)
afterAll(removePlaces)
afterAll(async () => {
  await outputSearched()
  if (searchedPlace !== undefined) reportSearched(searchedPlace)
  const leaks = takeLeaks().map((leak) => `canary: the marked secret was found (${leak})`)
  if (leaks.length > 0) throw new Error(['', ...leaks.slice(0, 30)].join('\n'))
})
