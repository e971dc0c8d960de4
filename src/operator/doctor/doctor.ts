/**
 * `cloakroom doctor`: what an operator should know of a server and its data. It reads only; each check stands
 * alone and costs a few statements, whatever the database holds.
 */

import { Failed } from '../self_check/check.ts'
import { databaseChecks } from './database.ts'
import type { Check, Finding, Limits, Patient } from './finding.ts'
import { keyChecks } from './keys.ts'
import { machineChecks } from './machine.ts'
import { peopleChecks } from './people.ts'

const GIBIBYTE = 1024 ** 3

export const USUAL: Limits = {
  freeBytes: GIBIBYTE,
  walBytes: GIBIBYTE,
  connectionShare: 0.8,
  daysLeft: 30,
}

const checks: readonly Check[] = [
  ...keyChecks,
  ...peopleChecks,
  ...databaseChecks,
  ...machineChecks,
]

export async function examine(patient: Patient): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const check of checks) findings.push(await run(check, patient))
  return findings
}

async function run({ name, docs, run: look }: Check, patient: Patient): Promise<Finding> {
  try {
    const found = await look(patient)
    return { check: name, todo: null, ...found, docs }
  } catch (error) {
    return { check: name, level: 'fail', ...reasonOf(error), docs }
  }
}

/** What the driver says may hold values: its code is enough. */
function reasonOf(error: unknown): { said: string; todo: string } {
  if (error instanceof Failed) return { said: error.message, todo: 'as it says' }
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no code'
  return {
    said: `could not be looked at (${code})`,
    todo: 'see whether the server and its database work',
  }
}
