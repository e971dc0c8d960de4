/** A private PostgreSQL server with its default durability, on a unix socket in a temporary directory. */
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { type Running, startProcess } from './processes.ts'

export type BenchCluster = {
  pid: number
  /** Creates an empty database and returns the variables that select it. */
  createDatabase(): Promise<Record<string, string>>
  stop(): Promise<void>
}

/** @throws Error if PostgreSQL is not installed */
export async function startBenchCluster(): Promise<BenchCluster> {
  const home = mkdtempSync(join(tmpdir(), 'cr-bench-pg-'))
  const owner = unprivileged()
  if (owner) chownSync(home, owner.uid, owner.gid)
  const server = await startServer(home, owner)
  let databases = 0
  return {
    pid: server.pid,
    createDatabase: async () => {
      const name = `bench_${databases++}`
      await ask(home, `create database ${name}`)
      return { DB_HOST: home, DB_NAME: name, DB_USER: 'cloakroom', DB_SSLMODE: 'disable' }
    },
    stop: async () => {
      await server.stop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

type Owner = { uid: number; gid: number } | undefined

async function startServer(home: string, owner: Owner): Promise<Running> {
  const [bin, data] = [findPrograms(), join(home, 'data')]
  const user = ['-U', 'cloakroom', '-A', 'trust', '-E', 'UTF8', '--no-locale']
  const made = Bun.spawn([join(bin, 'initdb'), '-D', data, ...user], {
    stdout: 'ignore',
    stderr: 'ignore',
    cwd: home,
    ...owner,
  })
  if ((await made.exited) !== 0) throw new Error('initdb failed')
  const settings = ['listen_addresses=', `unix_socket_directories=${home}`, 'max_connections=200']
  const server = await startProcess(
    [join(bin, 'postgres'), '-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    { owner, stopBy: 'SIGINT' },
  )
  await untilReady(home)
  return server
}

function findPrograms(): string {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => +b - +a) : []
  const places = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(':'),
  ]
  const found = places.find((place) => existsSync(join(place, 'initdb')))
  if (!found) throw new Error('PostgreSQL is not installed: there is no initdb')
  return found
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): Owner {
  if (process.getuid?.() !== 0) return undefined
  const entry = /^(?:postgres|nobody):[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
  return { uid: Number(entry?.[1] ?? 65_534), gid: Number(entry?.[2] ?? 65_534) }
}

async function untilReady(home: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    try {
      return await ask(home, 'select 1')
    } catch {
      await Bun.sleep(50)
    }
  }
  throw new Error('PostgreSQL did not start within 10 s')
}

async function ask(home: string, statement: string): Promise<void> {
  const sql = postgres({ host: home, user: 'cloakroom', database: 'postgres', max: 1 })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end({ timeout: 1 })
  }
}
