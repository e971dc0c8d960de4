/**
 * Runs around every `bun test`: one PostgreSQL cluster and one executable at most, gone at the end, and
 * the canary, whose verdict comes last.
 */
import { afterAll, setDefaultTimeout } from 'bun:test'
import { rmSync } from 'node:fs'
import { blindSpots, leaksFound } from './canary.ts'
import { databaseKind, stopCluster } from './database.ts'
import { executablePlace } from './executable_place.ts'
import { everythingHeard, watchAnswers } from './watched.ts'

/** Said by the runner of the suite, and to this process only: then nothing may have gone unsearched. */
const isWholeSuite = process.env.CANARY_WHOLE === 'yes'
delete process.env.CANARY_WHOLE

globalThis.fetch = watchAnswers(globalThis.fetch)

afterAll(stopCluster)
afterAll(() => rmSync(executablePlace, { recursive: true, force: true }))
afterAll(async () => {
  await everythingHeard()
  const blind = isWholeSuite ? blindSpots(databaseKind) : []
  const faults = [
    ...leaksFound().map((leak) => `canary: the marked secret was found (${leak})`),
    ...blind.map((spot) => `canary: blind (${spot})`),
  ]
  if (faults.length > 0) throw new Error(['', ...faults.slice(0, 30)].join('\n'))
})

/** Milliseconds: the machines of CI are slow, and a hung test is still found. */
setDefaultTimeout(60_000)
