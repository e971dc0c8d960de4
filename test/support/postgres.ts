/**
 * A private PostgreSQL cluster for the tests: created in a temporary directory, run as an unprivileged user on a unix
 * socket only, and stopped at the end, when the canary searches a dump of everything and the files. Each caller gets
 * its own database.
 */
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { search, searcher, searchFiles } from './canary.ts'
import { databasePlace } from './places.ts'
import { findPostgres } from './postgres_programs.ts'
import { until } from './until.ts'

type NewDatabase = {
  /** The database to copy; an empty one by default. */
  template?: string
  /** A free name by default. */
  name?: string
  /** Leaves the database to the end of the whole cluster, where `stop` would search and drop it. */
  isKept?: boolean
}

export type Cluster = {
  socketDir: string
  bin: string
  pid: () => number
  createDatabase: (options?: NewDatabase) => Promise<string>
  stop: () => Promise<void>
}

let counter = 0

export async function startCluster(): Promise<Cluster> {
  const bin = findPostgres()
  if (!bin) throw new Error('PostgreSQL is not installed: no initdb in /usr/lib/postgresql or PATH')
  const home = mkdtempSync(join(databasePlace, 'cr-pg-'))
  const owner = unprivileged()
  if (owner) chownSync(home, owner.uid, owner.gid)
  const data = join(home, 'data')
  await run(
    [
      join(bin, 'initdb'),
      '-D',
      data,
      '-U',
      'cloakroom',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--no-locale',
    ],
    owner,
    home,
  )
  const settings = [
    '-c',
    'listen_addresses=',
    '-c',
    `unix_socket_directories=${home}`,
    '-c',
    'max_connections=400',
    // No test crashes the machine, so it would only wait for the disk.
    '-c',
    'fsync=off',
  ]
  const server = Bun.spawn([join(bin, 'postgres'), '-D', data, ...settings], {
    stdout: 'ignore',
    stderr: Bun.file(join(home, 'server.log')),
    cwd: home,
    ...owner,
  })
  await waitUntilReady(home)
  const joined = joinCluster(home)
  const stop = async () => {
    await joined.stop()
    await searchDump([join(bin, 'pg_dumpall'), '--lock-wait-timeout=10000'], home)
    server.kill('SIGINT')
    await server.exited
    searchFiles('database', home)
    rmSync(home, { recursive: true, force: true })
  }
  return { ...joined, pid: () => server.pid, stop }
}

/**
 * A cluster that another process started and will stop. `stop` searches and drops the databases that this
 * process created, so that a leak is reported with the file that was running.
 */
export function joinCluster(socketDir: string): Cluster {
  const bin = findPostgres() ?? ''
  const own: string[] = []
  return {
    socketDir,
    bin,
    pid: () =>
      Number(readFileSync(join(socketDir, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]),
    createDatabase: async ({ isKept = false, ...options } = {}) => {
      const name = await createDatabase(socketDir, options)
      if (!isKept) own.push(name)
      return name
    },
    stop: async () => {
      for (const name of own.splice(0)) await searchAndDrop(socketDir, name)
    },
  }
}

async function searchAndDrop(socketDir: string, name: string): Promise<void> {
  const own = connect(socketDir, name)
  await searchRows(own, name)
  const [row] = await own`select oid from pg_database where datname = current_database()`
  await own`checkpoint`
  await own.end()
  searchFiles('database', join(socketDir, 'data', 'base', String(row?.oid)))
  const sql = connect(socketDir, 'postgres')
  await sql.unsafe(`drop database ${name} with (force)`)
  await sql.end()
}

/** Finds what a dump of the database would contain. pg_dump costs ten times more, mostly for the definitions. */
async function searchRows(sql: Sql, name: string): Promise<void> {
  await sql`set lock_timeout = '10s'`
  const tables = await sql<{ query: string }[]>`
    select format('select t::text as row from %I.%I t', schemaname, tablename) as query
    from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`
  if (tables.length === 0) return
  const rows = sql.unsafe<{ row: string }[]>(tables.map(({ query }) => query).join(' union all '))
  await rows.cursor(1000, (some) =>
    search('dump', `a row of ${name}`, some.map(({ row }) => row).join('\n')),
  )
}

async function searchDump([program = '', ...options]: string[], socketDir: string): Promise<void> {
  const child = Bun.spawn([program, '-h', socketDir, '-U', 'cloakroom', ...options], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const look = searcher('dump', basename(program))
  for await (const piece of child.stdout) look(piece)
  if ((await child.exited) !== 0)
    throw new Error(`${program} failed: ${await new Response(child.stderr).text()}`)
}

/** PostgreSQL refuses to run as root: then it runs as `postgres` or `nobody`. */
export function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const passwd = readFileSync('/etc/passwd', 'utf8')
  const entry = /^(?:postgres|nobody):[^:]*:(\d+):(\d+):/m.exec(passwd)
  return { uid: Number(entry?.[1] ?? 65534), gid: Number(entry?.[2] ?? 65534) }
}

async function run(
  command: string[],
  owner: { uid: number; gid: number } | undefined,
  cwd: string,
): Promise<void> {
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe', cwd, ...owner })
  if ((await child.exited) !== 0)
    throw new Error(`${command[0]} failed: ${await new Response(child.stderr).text()}`)
}

async function waitUntilReady(socketDir: string): Promise<void> {
  await until(
    async () => {
      const sql = connect(socketDir, 'postgres')
      const answered = sql`select 1`.then(
        () => true,
        () => false,
      )
      return await answered.finally(() => sql.end({ timeout: 1 }))
    },
    { stepMs: 50 },
  )
}

async function createDatabase(
  socketDir: string,
  { template = 'template1', name = `test_${process.pid}_${counter++}` }: NewDatabase = {},
): Promise<string> {
  const sql = connect(socketDir, 'postgres')
  await sql.unsafe(`create database ${name} template ${template} ${await cheapestCopy(sql)}`)
  await sql.end()
  return name
}

/** Copying files costs a third of logging every page. Versions before 15 always copy files. */
async function cheapestCopy(sql: Sql): Promise<string> {
  const [row] = await sql`select current_setting('server_version_num')::int >= 15 as has_choice`
  return row?.has_choice ? 'strategy file_copy' : ''
}

function connect(socketDir: string, database: string) {
  return postgres({ host: socketDir, user: 'cloakroom', database, max: 1, onnotice: () => {} })
}
