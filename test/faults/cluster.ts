/**
 * PostgreSQL for fault tests: stopped immediately, frozen, on its own disk, copied and promoted; with its usual
 * durability.
 */
import { appendFileSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { childrenOf, freePort } from '../bench/processes.ts'
import { unprivileged } from '../support/postgres.ts'
import { findPostgres } from '../support/postgres_programs.ts'
import { watched } from '../support/watched.ts'
import type { Network } from './namespaces.ts'

export type FaultCluster = {
  home: string
  port: number
  /** The variables that select its database, over TCP on loopback. */
  database: Record<string, string>
  pids(): number[]
  isUp(): boolean
  start(): Promise<void>
  stop(mode: 'immediate' | 'fast'): Promise<void>
  /** A standby that follows it. */
  standby(): Promise<FaultCluster>
  promote(): Promise<void>
  ask(statement: string): Promise<readonly Record<string, unknown>[]>
  remove(): Promise<void>
}

type Made = {
  home: string
  owner: ReturnType<typeof unprivileged>
  network?: Pick<Network, 'address' | 'within'> | undefined
  isSmall?: boolean
}

type Place = {
  /** An empty directory; created by default. */
  home?: string
  /** The network on which it listens; loopback by default. */
  network?: Network
  /** With a log of a few megabytes. */
  isSmall?: boolean
}

export async function startFaultCluster(place: Place = {}): Promise<FaultCluster> {
  const { home, network, isSmall = false } = place
  const made = { ...newHome(home), network, isSmall }
  const data = join(made.home, 'data')
  const user = ['-U', 'cloakroom', '-A', 'trust', '-E', 'UTF8', '--no-locale']
  await run([program('initdb'), '-D', data, ...user, ...(isSmall ? ['--wal-segsize=1'] : [])], made)
  if (network) appendFileSync(join(data, 'pg_hba.conf'), 'host all all 198.18.0.0/15 trust\n')
  const cluster = clusterAt(made)
  await cluster.start()
  await cluster.ask('create database faults')
  return cluster
}

function newHome(home = mkdtempSync(join(tmpdir(), 'cr-faults-pg-'))): Made {
  const owner = unprivileged()
  mkdirSync(home, { recursive: true })
  if (owner) chownSync(home, owner.uid, owner.gid)
  return { home, owner }
}

function clusterAt(made: Made): FaultCluster {
  const { home, network, isSmall } = made
  const address = network?.address ?? '127.0.0.1'
  const port = freePort()
  const data = join(home, 'data')
  const settings = `-c listen_addresses=${address} -c port=${port} -c unix_socket_directories=${home} -c max_connections=100${isSmall ? ' -c min_wal_size=2MB -c max_wal_size=4MB' : ''}`
  const control = (...words: string[]) => run([program('pg_ctl'), '-D', data, '-w', ...words], made)
  const pid = () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
  const cluster: FaultCluster = {
    home,
    port,
    database: {
      DB_HOST: address,
      DB_PORT: String(port),
      DB_NAME: 'faults',
      DB_USER: 'cloakroom',
      DB_SSLMODE: 'disable',
    },
    pids: () => [pid(), ...childrenOf(pid())],
    isUp: () =>
      watched(
        Bun.spawnSync([program('pg_ctl'), '-D', data, 'status'], { cwd: home, ...made.owner }),
      ).exitCode === 0,
    start: () => control('-l', join(home, 'log'), '-o', settings, 'start'),
    stop: (mode) => control('-m', mode, 'stop'),
    standby: async () => {
      const other = newHome()
      const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'cloakroom']
      const to = ['-D', join(other.home, 'data'), '-R', '-X', 'stream', '-c', 'fast']
      await run([program('pg_basebackup'), ...from, ...to], other)
      const standby = clusterAt(other)
      await standby.start()
      return standby
    },
    promote: () => control('promote'),
    ask: async (statement) => {
      const sql = postgres({ host: home, port, user: 'cloakroom', database: 'postgres', max: 1 })
      try {
        return await sql.unsafe(statement)
      } finally {
        await sql.end({ timeout: 1 })
      }
    },
    remove: async () => {
      await cluster.stop('immediate').catch(() => {})
      rmSync(home, { recursive: true, force: true })
    },
  }
  return cluster
}

function program(name: string): string {
  const bin = findPostgres()
  if (bin === null) throw new Error('PostgreSQL is not installed: there is no initdb')
  return join(bin, name)
}

async function run(command: string[], { home, owner, network }: Made): Promise<void> {
  const user = network ? {} : owner
  const child = watched(
    Bun.spawn(network?.within(command) ?? command, {
      stdout: 'ignore',
      stderr: 'pipe',
      cwd: home,
      ...user,
    }),
  )
  if ((await child.exited) !== 0)
    throw new Error(`${command[0]} failed: ${await new Response(child.stderr).text()}`)
}
