/** `cloakroom doctor` as the command line asks for it, and as the server does where it has the database. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError } from '../../core/config/config.ts'
import { CLUSTER } from '../../database/embedded/data_directory.ts'
import { askServer, type OperatorHandler, type Surroundings } from '../operator_socket.ts'
import { Failed } from '../self_check/check.ts'
import { withServerDatabase } from '../self_check/database.ts'
import { databaseChecks } from './database.ts'
import type { DoctorCheck, DoctorLimits, Finding, Patient } from './finding.ts'
import { keyChecks } from './keys.ts'
import { machineChecks } from './machine.ts'
import { peopleChecks } from './people.ts'

export type { Finding }

/** @throws ConfigError, or what the database refuses us with */
export async function diagnose(config: Config): Promise<Finding[]> {
  if (config.DB_HOST === undefined) {
    if (!existsSync(join(config.DATA_DIR, CLUSTER)))
      throw new ConfigError([
        'DATA_DIR: there is no database (set it, or DB_HOST, as for the server)',
      ])
    const answer = await askServer(config.DATA_DIR, 'doctor', {})
    if (answer?.ok) return (await answer.json()) as Finding[]
  }
  return await withServerDatabase(config, (connection) =>
    examine({ connection, config, now: Date.now, limits: USUAL_LIMITS }),
  )
}

export function doctorHandler({ connection, config, now }: Surroundings): OperatorHandler {
  return async () => Response.json(await examine({ connection, config, now, limits: USUAL_LIMITS }))
}

const GIBIBYTE = 1024 ** 3

export const USUAL_LIMITS: DoctorLimits = {
  freeBytes: GIBIBYTE,
  walBytes: GIBIBYTE,
  connectionShare: 0.8,
  daysLeft: 30,
}

const checks: readonly DoctorCheck[] = [
  ...keyChecks,
  ...peopleChecks,
  ...databaseChecks,
  ...machineChecks,
]

/**
 * What an operator should know of a server and its data. It reads only; each check costs a few statements,
 * whatever the database holds.
 */
export async function examine(patient: Patient): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const check of checks) findings.push(await run(check, patient))
  return findings
}

async function run({ name, docs, run: look }: DoctorCheck, patient: Patient): Promise<Finding> {
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
