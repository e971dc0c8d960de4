/**
 * `bun run upgrade-test [--compiled] [commit]`: a rolling restart from the version of a commit, with its own sources
 * and dependencies, to this one. Without a commit it starts from the last version before the newest migration.
 * `--compiled` uses executables of both, each built by its own `bun run build`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrations } from '../../../src/database/migrations/migrate.ts'
import { buildExecutable } from '../../../src/dev/build.ts'
import { startCluster } from '../../support/postgres.ts'
import { databaseVariables } from '../../support/prepared.ts'
import { checkOut, commitBefore, git } from '../making/old_version.ts'
import { restartOneByOne } from './restart.ts'

const { values, positionals } = parseArgs({
  options: { compiled: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [given] = positionals
const commit = given ? await git('rev-parse', given) : await commitBefore(migrations.at(-1)?.name)
const version = await checkOut(commit)
const place = mkdtempSync(join(tmpdir(), 'cr-compiled-'))
const cluster = await startCluster()
try {
  const env = databaseVariables(cluster.socketDir, await cluster.createDatabase())
  const versions = values.compiled
    ? { before: [await version.build()], after: [await buildHere()] }
    : { before: version.command }
  const { lost, torn, calls, writes, codes } = await restartOneByOne({ ...versions, env })
  process.stdout.write(
    `from ${commit}: ${calls} calls, ${writes} writes, exit codes ${codes.join(', ')}\n`,
  )
  process.stdout.write(`${lost.length} lost, ${torn.length} torn\n`)
  for (const line of [...lost, ...torn]) process.stdout.write(`  ${line.slice(0, 200)}\n`)
  process.exitCode = lost.length + torn.length > 0 ? 1 : 0
} finally {
  await cluster.stop()
  await version.remove()
  rmSync(place, { recursive: true, force: true })
}

async function buildHere(): Promise<string> {
  const outfile = join(place, 'cloakroom')
  await buildExecutable({ entry: join(import.meta.dir, '../../../src/main.ts'), outfile })
  return outfile
}
