/**
 * `cloakroom doctor` for the command line, and for the server that has the database open: facts about a server and its
 * data for the operator. It only reads.
 */
import type { Config } from '../../core/config/config.ts'
import { requireCluster } from '../../database/embedded/data_directory.ts'
import { askServer, type OperatorHandler, type Surroundings } from '../operator_socket.ts'
import { type DoctorLimits, Failed, type Finding, type Patient, runChecks } from './check.ts'
import { withServerDatabase } from './database.ts'
import { DOCTOR } from './list.ts'

const GIBIBYTE = 1024 ** 3

export const USUAL_LIMITS: DoctorLimits = {
  freeBytes: GIBIBYTE,
  walBytes: GIBIBYTE,
  connectionShare: 0.8,
  daysLeft: 30,
}

/** @throws ConfigError, or the error with which the database refuses the connection */
export async function diagnose(config: Config): Promise<Finding[]> {
  requireCluster(config)
  const answer = config.DB_HOST ? null : await askServer(config.DATA_DIR, 'doctor', {})
  if (answer?.ok) return (await answer.json()) as Finding[]
  return await withServerDatabase(config, (connection) =>
    examine({ connection, config, now: Date.now, limits: USUAL_LIMITS }),
  )
}

export function doctorHandler({ connection, config, now }: Surroundings): OperatorHandler {
  return async () => Response.json(await examine({ connection, config, now, limits: USUAL_LIMITS }))
}

/** Each check costs a few statements, for any amount of data. */
export function examine(patient: Patient): Promise<Finding[]> {
  return runChecks(DOCTOR, patient, describe)
}

/** The driver's messages may hold values: their code is enough. */
function describe(error: unknown): string {
  if (error instanceof Failed) return error.message
  return `could not be checked (${error instanceof Error && 'code' in error ? String(error.code) : 'no code'})`
}
