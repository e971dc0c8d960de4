/**
 * `cloakroom serve` as its own process, for tests of signals, memory and environment, which must not affect the test
 * process.
 */
import { join } from 'node:path'
import { openApi } from '../../src/client/http/api.ts'
import type { TestApp } from './app.ts'
import { watched } from './watched.ts'

const FROM_SOURCE = [process.execPath, join(import.meta.dir, '../../src/main.ts')]

export type ServerProcess = {
  pid: number
  controlPlane: string
  resolver: string
  /** All output to standard output and standard error so far. */
  output(): string
  kill(signal: NodeJS.Signals): void
  /** The exit code, or the signal's name. */
  exited: Promise<number | string>
  /** The part that people and agents need. */
  app: TestApp
}

/** Starts a command line and waits until it listens; throws its output if it does not. */
export function startServer(
  env: Record<string, string>,
  command?: readonly string[],
): Promise<ServerProcess> {
  return spawnServer(env, command).ready
}

/** A start that may fail. */
export function spawnServer(
  env: Record<string, string>,
  command: readonly string[] = FROM_SOURCE,
): Pick<ServerProcess, 'kill' | 'exited'> & { ready: Promise<ServerProcess> } {
  const { PATH = '', HOME = '' } = process.env
  const child = watched(
    Bun.spawn([...command, 'serve'], {
      env: { PATH, HOME, PORT: '0', RESOLVER_PORT: '0', LOG_LEVEL: 'debug', ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  let output = ''
  const ready = Promise.withResolvers<ServerProcess>()
  ready.promise.catch(() => {})
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      output += decoder.decode(chunk, { stream: true })
      if (output.includes('Stop: Ctrl-C')) ready.resolve(listening())
    }
  }
  const collected = Promise.all([collect(child.stdout), collect(child.stderr)])
  const exited = child.exited.then((code) => child.signalCode ?? code)
  // It has printed the reason, which may be read after its end.
  void Promise.all([exited, collected]).then(([code]) =>
    ready.reject(new Error(`the server ended with ${code}: ${output}`)),
  )
  const kill = (signal: NodeJS.Signals) => child.kill(signal)
  const listening = (): ServerProcess => {
    const controlPlane = originIn(output, 'control plane')
    const resolver = originIn(output, 'resolver')
    const api: Pick<TestApp, 'controlPlane' | 'resolver' | 'as'> = {
      controlPlane,
      resolver,
      as: (token) => openApi(controlPlane, () => token ?? null),
    }
    const app = api as TestApp
    return { pid: child.pid, controlPlane, resolver, output: () => output, kill, exited, app }
  }
  return { kill, exited, ready: ready.promise }
}

function originIn(banner: string, label: string): string {
  return new RegExp(`^ +${label} +(http://\\S+)$`, 'm').exec(banner)?.[1] ?? ''
}
