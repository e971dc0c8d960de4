/** The database under test: TEST_DATABASE=postgresql or embedded (the default). */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { searchFiles } from './canary.ts'
import { databasePlace } from './places.ts'
import { type Cluster, joinCluster, startCluster } from './postgres.ts'
import { databaseVariables, PREPARED, prepareCluster, prepareDirectory } from './prepared.ts'

export const databaseKind = process.env.TEST_DATABASE === 'postgresql' ? 'postgresql' : 'embedded'

let cluster: Promise<Cluster> | undefined
let prepared: Promise<void> | undefined
let directory: Promise<string> | undefined

/** The one cluster of the run, or of this test process if it runs alone. */
export function sharedCluster(): Promise<Cluster> {
  const ofRun = process.env.TEST_CLUSTER
  cluster ??= ofRun === undefined ? startCluster() : Promise.resolve(joinCluster(ofRun))
  return cluster
}

/** Opens a cluster with a prepared database: the runner has created it for a cluster of the run. */
async function preparedCluster(): Promise<Cluster> {
  const joined = await sharedCluster()
  if (process.env.TEST_CLUSTER !== undefined) return joined
  prepared ??= prepareCluster(joined)
  await prepared
  return joined
}

export async function stopCluster(): Promise<void> {
  await (await cluster)?.stop()
  cluster = undefined
  prepared = undefined
}

export type TestDatabase = { env: Record<string, string>; remove(): void }

/** An empty database of the kind under test, as the variables that select it. */
export async function freshDatabase(): Promise<TestDatabase> {
  if (databaseKind === 'embedded') return newDirectory()
  const { socketDir, createDatabase } = await sharedCluster()
  return { env: databaseVariables(socketDir, await createDatabase()), remove: () => {} }
}

/** A database with the current schema and no rows. @param isKept leaves it to the runner. */
export async function preparedDatabase({ isKept = false } = {}): Promise<TestDatabase> {
  if (databaseKind === 'embedded') {
    directory ??= prepareDirectory()
    const database = newDirectory()
    cpSync(await directory, database.env.DATA_DIR, { recursive: true })
    return database
  }
  const { socketDir, createDatabase } = await preparedCluster()
  const name = await createDatabase({ template: PREPARED, isKept })
  return { env: databaseVariables(socketDir, name), remove: () => {} }
}

function newDirectory() {
  const parent = mkdtempSync(join(databasePlace, 'cr-data-'))
  return {
    env: { DATA_DIR: join(parent, 'data') },
    remove: () => {
      searchFiles('database', parent)
      rmSync(parent, { recursive: true, force: true })
    },
  }
}
