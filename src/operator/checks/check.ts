/** The type of all checks, and their runner. A check returns its finding, or throws. */
import type { Config } from '../../core/config/config.ts'
import type { Connection } from '../../database/open.ts'

/** A failed check: lines for the operator, with the remedy. */
export class Failed extends Error {}

/** The text has counts only, without values or names. */
export type Finding = {
  check: string
  level: 'ok' | 'warn' | 'fail'
  said: string
  todo: string | null
  docs: string
}

/** A sentence if there is no problem. */
export type Found = string | { todo: string; level: 'warn' | 'fail'; said: string }

/** A check may need the settings, an open database as well, or neither. */
export type Configured = { config: Config; now: () => number; connection?: Connection }
export type Patient = Configured & { connection: Connection; limits: DoctorLimits }

export type DoctorLimits = {
  /** Free bytes of a disk below which the doctor warns. */
  freeBytes: number
  walBytes: number
  /** Share of the connections that PostgreSQL allows, from 0 to 1. */
  connectionShare: number
  /** Days until the disk is full at the present rate. */
  daysLeft: number
}

export type Check<Needs> = {
  name: string
  /** The page and heading that document it. */
  docs: string
  run(given: Needs): Promise<Found> | Found
}

export const warn = (said: string, todo: string): Found => ({ todo, level: 'warn', said })
export const fail = (said: string, todo: string): Found => ({ todo, level: 'fail', said })

/** Runs every check, also after one that failed. */
export async function runChecks<Needs>(
  checks: readonly Check<Needs>[],
  given: Needs,
  describe: (error: unknown) => string,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { name: check, docs, run } of checks) {
    try {
      const found = await run(given)
      if (typeof found === 'string')
        findings.push({ check, todo: null, level: 'ok', said: found, docs })
      else findings.push({ check, ...found, docs })
    } catch (error) {
      const todo =
        error instanceof Failed
          ? 'follow the message'
          : 'check that the server and its database work'
      findings.push({ check, level: 'fail', said: describe(error), todo, docs })
    }
  }
  return findings
}
