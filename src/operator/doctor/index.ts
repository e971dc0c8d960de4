/** `cloakroom doctor` as the command line asks for it, and as the server does where it has the database. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError } from '../../core/config/config.ts'
import { CLUSTER } from '../../database/embedded/data_directory.ts'
import { askServer, type Handler, type Surroundings } from '../operator_socket.ts'
import { withDatabase } from '../self_check/database.ts'
import { examine, USUAL } from './doctor.ts'
import type { Finding } from './finding.ts'

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
  return await withDatabase(config, (connection) =>
    examine({ connection, config, now: Date.now, limits: USUAL }),
  )
}

export function doctorHandler({ connection, config, now }: Surroundings): Handler {
  return async () => Response.json(await examine({ connection, config, now, limits: USUAL }))
}
