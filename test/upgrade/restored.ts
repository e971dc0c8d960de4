/** A database left by an older version. */
import { type Config, readConfig } from '../../src/core/config/config.ts'
import { migrate, migrations } from '../../src/database/migrations/migrate.ts'
import { type Connection, openDatabase } from '../../src/database/open.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import type { Fixture } from './fixture.ts'

/** @param look an action that runs on it immediately */
export async function restored(
  fixture: Fixture,
  look: (connection: Connection) => Promise<void> = async () => {},
): Promise<TestDatabase> {
  const database = await freshDatabase()
  await change(configOf(fixture, database), async (connection) => {
    const { sql } = connection
    await migrate(sql, migrations.slice(0, fixture.migrations.length))
    // In the form of those versions.
    await sql`alter table cloakroom_migrations drop column keeps_older`
    await sql.unsafe(fixture.rows)
    await look(connection)
  })
  return database
}

export function configOf({ keys }: Pick<Fixture, 'keys'>, { env }: TestDatabase): Config {
  return readConfig({ ...keys, ...env }, () => keys)
}

/** Without a server. */
export async function change<T>(config: Config, work: (connection: Connection) => Promise<T>) {
  const connection = await openDatabase(config, () => {})
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}

/** Count of rows by table. */
export async function countsIn({ sql }: Connection): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'cloakroom_migrations'
    order by 1`
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from ${sql(name)}`
    counts[name] = row?.count ?? 0
  }
  return counts
}
