/** The product the way the benches start it: `cloakroom serve` in its own process, on free ports. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { runtimeSettings } from '../../src/core/clean_environment.ts'
import { type Running, startProcess } from './processes.ts'

const ROOT = join(import.meta.dir, '../..')

export type Server = { pid: number; controlPlane: string; resolver: string; stop(): Promise<void> }

/** Limits that a load generator does not reach, and keys. */
export function benchSettings(): Record<string, string> {
  return {
    SECRET_KEY: randomBytes(32).toString('hex'),
    ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
    PORT: '0',
    RESOLVER_PORT: '0',
    RATE_TOKEN: '9999999/1',
    RATE_API: '9999999/1',
    RATE_LOGIN: '9999999/1',
    RATE_REGISTER: '9999999/1',
  }
}

type Command = {
  executable?: string | undefined
  /** A checkout other than this one. */
  directory?: string | undefined
  /** The file for a CPU profile, written when the server has stopped. */
  profile?: string | undefined
}

/** `cloakroom serve`, from the sources by default. */
export function serverCommand({ executable, directory, profile }: Command = {}): string[] {
  if (executable) return [executable, 'serve']
  const profiling = profile
    ? ['--cpu-prof', `--cpu-prof-dir=${dirname(profile)}`, `--cpu-prof-name=${basename(profile)}`]
    : []
  return [process.execPath, ...profiling, join(directory ?? ROOT, 'src/main.ts'), 'serve']
}

const BANNER = /control plane {2}(?<controlPlane>\S+)\n(?:.*\n)*? {2}resolver {7}(?<resolver>\S+)\n/

/** Its log is written to a file, like under a service manager. */
export async function startServer(
  env: Record<string, string>,
  cmd: string[] = serverCommand(),
): Promise<Server> {
  const directory = mkdtempSync(join(tmpdir(), 'cr-bench-log-'))
  const running = await startProcess(cmd, {
    // With this variable it starts in the clean environment immediately, and the runtime's options stay.
    env: { ...runtimeSettings, ...env },
    ready: BANNER,
    log: join(directory, 'server.log'),
  })
  return { ...originsOf(running), stop: stopAndRemove(running, directory) }
}

function originsOf({ pid, ready }: Running) {
  return { pid, controlPlane: ready.controlPlane ?? '', resolver: ready.resolver ?? '' }
}

function stopAndRemove(running: Running, directory: string): () => Promise<void> {
  return async () => {
    await running.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}
