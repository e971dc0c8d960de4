/**
 * Declares what a test needs beyond Bun. If it is missing the test is skipped: the runner counts it, and lists the
 * reason with the command that installs it. const { test, beforeAll, afterAll } = requires('chromium')
 */
import * as bun from 'bun:test'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseKind } from './database.ts'
import { howToInstall, isPresent, type Need } from './needs.ts'

type Kit = Pick<
  typeof bun,
  'test' | 'describe' | 'beforeAll' | 'afterAll' | 'beforeEach' | 'afterEach'
>

const none = () => {}

/** Hooks of a skipped test do nothing, because the runtime would call them anyway. */
const SKIPPED = {
  test: bun.test.skip,
  describe: bun.describe.skip,
  beforeAll: none,
  afterAll: none,
  beforeEach: none,
  afterEach: none,
} as unknown as Kit

/** Registers nothing: the test runs on the other database of this run. */
const ELSEWHERE = {
  ...SKIPPED,
  test: Object.assign(none, { each: () => none, serial: none }),
  describe: Object.assign(none, { each: () => none }),
} as unknown as Kit

const reported = new Set<Need>()

/** `postgresql` also means that the test runs on PostgreSQL. */
export function requires(...needs: Need[]): Kit {
  const absent = needs.filter((need) => !isPresent(need))
  for (const need of absent) report(need)
  if (absent.length > 0) return SKIPPED
  return needs.includes('postgresql') && databaseKind !== 'postgresql' ? ELSEWHERE : bun
}

function report(need: Need): void {
  const line = `${need} is not installed: ${howToInstall(need)}`
  const place = process.env.TEST_SKIPS
  if (place === undefined && !reported.has(need)) process.stderr.write(`Skipped tests: ${line}\n`)
  if (place !== undefined) appendFileSync(join(place, `skips-${process.pid}`), `${line}\n`)
  reported.add(need)
}
