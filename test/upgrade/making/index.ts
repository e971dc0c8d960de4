/**
 * `bun run fixture`: creates the fixture of each schema without one, by running the last version with this schema.
 * With names of schemas it recreates only those.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { createAuthority } from '../../../src/cli/demo/certificates.ts'
import { migrations } from '../../../src/database/migrations/migrate.ts'
import { type Cluster, startCluster } from '../../support/postgres.ts'
import { databaseVariables } from '../../support/prepared.ts'
import { startUpstream } from '../../support/upstream.ts'
import { backupOf, type Fixture, fixtureNames, HOST, pathOf } from '../fixture.ts'
import { NEVER_LANDED } from '../never_landed.ts'
import { checkOut, commitBefore, type OldVersion } from './old_version.ts'
import { runStory } from './story.ts'

/** zstd's slowest. */
const LEVEL = 22

const wanted = process.argv.slice(2)
const missing = migrations
  .map(({ name }) => name)
  .filter((name) => !NEVER_LANDED.includes(name) && !fixtureNames().includes(name))
const cluster = await startCluster()
for (const schema of wanted.length > 0 ? wanted : missing) {
  const next = migrations[migrations.findIndex(({ name }) => name === schema) + 1]
  const version = await checkOut(await commitBefore(next?.name))
  try {
    const fixture = await make(cluster, version, schema)
    const bytes = Bun.zstdCompressSync(Buffer.from(JSON.stringify(fixture)), { level: LEVEL })
    writeFileSync(pathOf(schema), bytes)
    const skipped = fixture.story.skipped.map((text) => `\n  without ${text}`).join('')
    process.stdout.write(`${schema} by ${fixture.commit}: ${bytes.length} bytes${skipped}\n`)
  } finally {
    await version.remove()
  }
}
await cluster.stop()

async function make(cluster: Cluster, version: OldVersion, schema: string): Promise<Fixture> {
  const database = await cluster.createDatabase()
  const directory = mkdtempSync(join(tmpdir(), 'cr-fixture-'))
  const authority = await createAuthority('Upgrade')
  const upstream = await startUpstream(authority, { names: [HOST] })
  const caFile = join(directory, 'ca.pem')
  writeFileSync(caFile, authority.certificate)
  const keys = {
    SECRET_KEY: randomBytes(32).toString('base64url'),
    ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
  }
  const settings = {
    ...keys,
    ...databaseVariables(cluster.socketDir, database),
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_HOSTS: `${HOST}=127.0.0.1`,
    RESOLVER_CA_FILE: caFile,
  }
  const server = await serve(version, settings)
  try {
    const place = { command: version.command, ...server, port: upstream.port }
    const story = await runStory(place)
    await backUp(version, schema, settings)
    await server.stop()
    const dumped = await dump(cluster, database)
    if (dumped.migrations.at(-1)?.name !== schema)
      throw new Error(`${version.commit} has schema ${dumped.migrations.at(-1)?.name}`)
    return { schema, commit: version.commit, keys, port: upstream.port, story, ...dumped }
  } finally {
    await server.stop()
    await upstream.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** By that version's own command, if it had one. */
async function backUp({ command }: OldVersion, schema: string, env: Record<string, string>) {
  const { PATH = '', HOME = '' } = process.env
  rmSync(backupOf(schema), { force: true })
  const child = Bun.spawn([...command, 'backup', backupOf(schema)], {
    env: { PATH, HOME, ...env },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await child.exited
}

async function serve({ command, directory }: OldVersion, env: Record<string, string>) {
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn([...command, 'serve'], {
    cwd: directory,
    env: { PATH, HOME, PORT: '0', RESOLVER_PORT: '0', LOG_LEVEL: 'warning', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const stop = async () => {
    child.kill('SIGTERM')
    await child.exited
  }
  let banner = ''
  const decoder = new TextDecoder()
  for await (const chunk of child.stdout) {
    banner += decoder.decode(chunk, { stream: true })
    const [controlPlane] = /http:\/\/\S+(?=[^\n]*\n)/.exec(lineWith(banner, 'control plane')) ?? []
    const [resolver] = /http:\/\/\S+(?=[^\n]*\n)/.exec(lineWith(banner, 'resolver')) ?? []
    if (controlPlane && resolver) return { controlPlane, resolver, stop }
  }
  throw new Error(`the server ended with ${await child.exited}: ${banner}`)
}

function lineWith(text: string, words: string): string {
  return text.split(/(?<=\n)/).find((line) => line.includes(words)) ?? ''
}

async function dump({ socketDir, bin }: Cluster, database: string) {
  const sql = postgres({ host: socketDir, user: 'cloakroom', database, max: 1 })
  const migrations = await sql<Fixture['migrations']>`
    select name, sha256 from cloakroom_migrations order by name`
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'cloakroom_migrations'
    order by 1`
  const counts: Fixture['counts'] = {}
  for (const { name } of tables) {
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from ${sql(name)}`
    counts[name] = row?.count ?? 0
  }
  await sql.end()
  const options = ['--data-only', '--rows-per-insert=100', '--disable-triggers', '--no-owner']
  const child = Bun.spawn(
    [
      join(bin, 'pg_dump'),
      ...options,
      '--exclude-table=cloakroom_migrations',
      ...['-h', socketDir, '-U', 'cloakroom', database],
    ],
    { stdout: 'pipe', stderr: 'inherit' },
  )
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('pg_dump failed')
  return { migrations: [...migrations], counts, rows: statementsIn(text) }
}

/** Without comments, commands of psql and settings of its session. */
function statementsIn(dumped: string): string {
  return dumped
    .split('\n')
    .filter((line) => !/^(?:--|\\|SET |SELECT pg_catalog\.set_config|$)/.test(line))
    .join('\n')
}
