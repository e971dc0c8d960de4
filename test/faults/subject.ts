/**
 * The subject of faults: real server processes on fixed ports that restart automatically, their database, and an
 * external API.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { benchSettings } from '../bench/server.ts'
import { type ServerProcess, startServer } from '../support/server_process.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { Ledger } from './ledger.ts'

export const HOST = 'api.faults.example'

/** One process under a service manager's rule: it is restarted when it ends. */
export type Replica = {
  controlPlane: string
  resolver: string
  pid(): number
  /** All output since its last start. */
  output(): string
  /** Ended by a signal and started again; resolves when it serves. */
  bounce(signal: NodeJS.Signals): Promise<void>
  /** Resolves when it serves again after an unexpected end. */
  serving(): Promise<void>
  /** The number of its starts. */
  starts(): number
  stop(): Promise<void>
}

export type Subject = {
  replicas: readonly Replica[]
  /** The settings of the next start. */
  env: Record<string, string>
  directory: string
  upstream: Upstream
  ledger: Ledger
  target(path: string): string
  domain: string
  stop(): Promise<void>
}

type Options = {
  /** The variables that select the database. */
  database: Record<string, string>
  replicas: number
  settings?: Record<string, string>
}

export async function startSubject({ database, replicas, settings }: Options): Promise<Subject> {
  const directory = mkdtempSync(join(tmpdir(), 'cr-faults-'))
  // Also valid for a server with a clock that is behind.
  const certificate = { notBefore: new Date(Date.now() - 2 * 86_400_000) }
  const authority = await createAuthority('Cloakroom faults', certificate)
  const RESOLVER_CA_FILE = join(directory, 'ca.pem')
  writeFileSync(RESOLVER_CA_FILE, authority.certificate)
  const upstream = await startUpstream(authority, { names: [HOST], certificate })
  const domain = `${HOST}:${upstream.port}`
  const env = {
    ...benchSettings(),
    LOG_LEVEL: 'warning',
    RESOLVER_HOSTS: `${HOST}=127.0.0.1`,
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_CA_FILE,
    ...database,
    ...settings,
  }
  const ledger = new Ledger(join(directory, 'ledger'))
  const running: Replica[] = []
  const stop = async () => {
    for (const replica of running) await replica.stop()
    await upstream.stop()
    ledger.close()
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    for (let count = 0; count < replicas; count += 1) running.push(await startReplica(env))
  } catch (error) {
    await stop()
    throw error
  }
  const target = (path: string) => `https://${domain}${path}`
  return { replicas: running, env, directory, upstream, ledger, target, domain, stop }
}

const RESTART_MS = 100

async function startReplica(env: Record<string, string>): Promise<Replica> {
  const [PORT, RESOLVER_PORT] = [String(await freePort()), String(await freePort())]
  let starts = 0
  let isStopping = false
  let current: ServerProcess | undefined
  let serving: Promise<void> = Promise.resolve()
  const start = async (): Promise<void> => {
    starts += 1
    current = await startServer({ ...env, LOG_LEVEL: env.LOG_LEVEL ?? '', PORT, RESOLVER_PORT })
    void current.exited.then(() => {
      if (!isStopping) serving = again()
      serving.catch(() => {})
    })
  }
  const again = async (): Promise<void> => {
    for (;;) {
      await Bun.sleep(RESTART_MS)
      try {
        return await start()
      } catch (error) {
        // Restarts like a service manager: until the process stays up, or the run ends.
        if (isStopping) throw error
      }
    }
  }
  await start()
  return {
    controlPlane: `http://127.0.0.1:${PORT}`,
    resolver: `http://127.0.0.1:${RESOLVER_PORT}`,
    pid: () => current?.pid ?? 0,
    output: () => current?.output() ?? '',
    starts: () => starts,
    serving: () => serving,
    bounce: async (signal) => {
      const ended = current
      ended?.kill(signal)
      await ended?.exited
      await Promise.resolve()
      await serving
    },
    stop: async () => {
      isStopping = true
      await serving.catch(() => {})
      current?.kill('SIGTERM')
      await current?.exited
    },
  }
}

/** Below the range that the system uses for connections, so that a restarted process gets its own port again. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 18_000)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
