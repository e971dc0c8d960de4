/** The database of the settings, open for one piece of work. */
import type { Config } from '../core/config/config.ts'
import { openLog } from '../core/log.ts'
import { type Connection, openDatabase } from '../database/open.ts'
import { awaitServer } from '../database/reach.ts'

/** @throws ServerUnreachable after DB_WAIT_SECONDS, and the errors of opening a database */
export async function withConnection<T>(
  config: Config,
  work: (connection: Connection) => Promise<T>,
  onFailure: (reason: string) => void = () => process.exit(1),
): Promise<T> {
  await awaitServer(config, openLog(config.LOG_LEVEL))
  const connection = await openDatabase(config, onFailure)
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}
