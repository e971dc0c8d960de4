/**
 * `bun run upgrade-test [commit]`: a rolling restart from the version of a commit, with its own sources and dependencies,
 * to this one. Without one, from the last version that had not the newest migration.
 */
import { join } from 'node:path'
import { migrations } from '../../../src/platform/db/migrations/migrate.ts'
import { startCluster } from '../../support/postgres.ts'
import { databaseVariables } from '../../support/prepared.ts'
import { checkOut, commitBefore, git } from '../making/old_version.ts'
import { restartOneByOne } from './restart.ts'

const MAIN = join(import.meta.dir, '../../../src/main.ts')

const [given] = process.argv.slice(2)
const commit = given ? await git('rev-parse', given) : await commitBefore(migrations.at(-1)?.name)
const version = await checkOut(commit)
const cluster = await startCluster()
try {
  const env = databaseVariables(cluster.socketDir, await cluster.createDatabase())
  const before = join(version.directory, 'src/main.ts')
  const { lost, torn, calls, writes, codes } = await restartOneByOne({ before, after: MAIN, env })
  process.stdout.write(
    `from ${commit}: ${calls} calls, ${writes} writes, exit codes ${codes.join(', ')}\n`,
  )
  process.stdout.write(`${lost.length} lost, ${torn.length} torn\n`)
  for (const line of [...lost, ...torn]) process.stdout.write(`  ${line.slice(0, 200)}\n`)
  process.exitCode = lost.length + torn.length > 0 ? 1 : 0
} finally {
  await cluster.stop()
  await version.remove()
}
