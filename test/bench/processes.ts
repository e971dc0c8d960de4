/** Contestants run as separate processes, so that the CPU time of each can be measured. */
import { openSync, readdirSync, readFileSync } from 'node:fs'
import { devNull } from 'node:os'
import { join } from 'node:path'

export type Running = {
  pid: number
  /** The named groups of the pattern that reported that the process is ready. */
  ready: Record<string, string>
  stop(): Promise<void>
}

type Options = {
  env?: Record<string, string>
  /** Matched against standard output; absent for programs without output. */
  ready?: RegExp
  /** The file for standard error; discarded unless given. */
  log?: string
  owner?: { uid: number; gid: number } | undefined
  stopBy?: 'SIGTERM' | 'SIGINT'
}

const START_MS = 60_000

/** @throws Error when the program ends, or prints nothing for a minute, before it is ready */
export async function startProcess(cmd: string[], options: Options): Promise<Running> {
  const child = Bun.spawn(cmd, {
    env: { PATH: process.env.PATH ?? '', ...options.env },
    stdout: 'pipe',
    stderr: openSync(options.log ?? devNull, 'a'),
    ...options.owner,
  })
  const late = setTimeout(() => child.kill(), START_MS)
  const ready = options.ready ? await waitFor(child.stdout, options.ready) : {}
  clearTimeout(late)
  if (!ready) throw new Error(`did not start: ${cmd.join(' ')}`)
  return {
    pid: child.pid,
    ready,
    stop: async () => {
      child.kill(options.stopBy ?? 'SIGTERM')
      await child.exited
    },
  }
}

/** The command line of one of the helpers in parts.ts. */
export function partCommand(name: string, settings: unknown): string[] {
  const index = join(import.meta.dir, 'index.ts')
  return [process.execPath, index, 'part', name, JSON.stringify(settings)]
}

/** Starts a helper that prints its port when it listens. */
export function startPart(
  name: string,
  settings: unknown,
  within = (cmd: string[]) => cmd,
): Promise<Running> {
  return startProcess(within(partCommand(name, settings)), {
    ready: /^listening on (?<port>\d+)$/m,
    env: { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' },
  })
}

/** A port that is free at this moment. */
export function freePort(): number {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
  const { port } = server
  server.stop()
  return port
}

/** Reads until the pattern matches, and discards the rest. */
async function waitFor(
  output: ReadableStream<Uint8Array>,
  pattern: RegExp,
): Promise<Record<string, string> | null> {
  const found = Promise.withResolvers<Record<string, string> | null>()
  const read = async () => {
    let text = ''
    for await (const chunk of output.pipeThrough(new TextDecoderStream() as never)) {
      if (text.length < 65_536) text += chunk
      const match = pattern.exec(text)
      if (match) found.resolve({ ...match.groups })
    }
    found.resolve(null)
  }
  read().catch(found.reject)
  return found.promise
}

/** Ticks of /proc in a second: USER_HZ is 100 on all current Linux systems. */
const TICKS = 100

/** User and system time in seconds of a process with all its threads; NaN without /proc. */
export function cpuSeconds(pid: number): number {
  const [user, system] = statOf(pid).slice(11, 13)
  return (Number(user) + Number(system)) / TICKS
}

/** Like `cpuSeconds`, for a process and its children, including those that ended. */
export function familyCpuSeconds(pid: number): number {
  const ended = statOf(pid).slice(13, 15).map(Number)
  const alive = childrenOf(pid).reduce((sum, child) => sum + cpuSeconds(child), 0)
  return cpuSeconds(pid) + alive + ended.reduce((sum, ticks) => sum + ticks, 0) / TICKS
}

/** User and system time of a PostgreSQL server's processes for one database. */
export function backendCpuSeconds(server: number, database = ''): number {
  const isBackend = (pid: number) => readProc(`${pid}/cmdline`).includes(` cloakroom ${database} `)
  return childrenOf(server)
    .filter(isBackend)
    .reduce((sum, pid) => sum + cpuSeconds(pid), 0)
}

/** Resident memory in MB. */
export function residentMb(pid: number): number {
  const status = readProc(`${pid}/status`)
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1024
}

/** The fields of /proc/<pid>/stat from the third on, because the second may contain anything. */
function statOf(pid: number): string[] {
  const text = readProc(`${pid}/stat`)
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

export function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => Number(statOf(pid)[1]) === parent)
}

function readProc(path: string): string {
  try {
    return readFileSync(join('/proc', path), 'utf8')
  } catch {
    return ''
  }
}
