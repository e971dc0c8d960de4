/** The database under test: TEST_DATABASE=postgresql or embedded (the default). */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { searchFiles } from './canary.ts'
import { databasePlace } from './places.ts'
import { type Cluster, joinCluster, startCluster } from './postgres.ts'

export const databaseKind = process.env.TEST_DATABASE === 'postgresql' ? 'postgresql' : 'embedded'

let cluster: Promise<Cluster> | undefined

/** The one cluster of the run, or of this test process where it runs alone. */
export function sharedCluster(): Promise<Cluster> {
  const ofRun = process.env.TEST_CLUSTER
  cluster ??= ofRun === undefined ? startCluster() : Promise.resolve(joinCluster(ofRun))
  return cluster
}

export async function stopCluster(): Promise<void> {
  await (await cluster)?.stop()
  cluster = undefined
}

export type TestDatabase = { env: Record<string, string>; remove(): void }

/** An empty database of the kind under test, as the variables that select it. */
export async function freshDatabase(): Promise<TestDatabase> {
  if (databaseKind === 'postgresql') {
    const { socketDir, createDatabase } = await sharedCluster()
    const name = await createDatabase()
    const env = { DB_HOST: socketDir, DB_NAME: name, DB_USER: 'cloakroom', DB_SSLMODE: 'disable' }
    return { env, remove: () => {} }
  }
  const directory = mkdtempSync(join(databasePlace, 'cr-data-'))
  return {
    env: { DATA_DIR: join(directory, 'data') },
    remove: () => {
      searchFiles('database', directory)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
